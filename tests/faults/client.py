"""
A client of the services, as the web server is one: reads one call a line, answers one line. It may die at a point.

Started by `cluster.Client`; runs in the Django environment of a stack.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import django

django.setup()

from django import db  # noqa: E402 - models need the set-up

from scheduler import errors, models  # noqa: E402
from scheduler.management import key_files  # noqa: E402
from scheduler.services import actors, control, emergency, nodes, people, policies, queues, setup  # noqa: E402
from scheduler.services import submission as submissions  # noqa: E402

GROUP, QUEUE, OWNER = "crash", "only", "olivia"


def prepare(directory: str, names: list[str], rules: dict[str, Any]) -> None:
    """Make a group with nodes of four cores each, and give each node's agent its key."""
    group = setup.create_group(actors.SYSTEM, GROUP, policy=rules)
    queues.create_queue(actors.SYSTEM, QUEUE, groups=[group])
    owner = people.create_user(actors.SYSTEM, OWNER, password="not for anybody")
    people.set_role(actors.SYSTEM, group, "manager", user=owner)
    for name in names:
        node = nodes.create_node(actors.SYSTEM, name, group, capacity={"cpu": 4000})
        key_files.enroll(actors.SYSTEM, node, pathlib.Path(directory, "agents", name, "key.json"))


def submit(name: str, cpu: str, rank: int, argv: list[str], **more: Any) -> None:
    """Submit a session of the one owner."""
    request = submissions.SubmitRequest(
        name=name, group=GROUP, queue=QUEUE, slots={"cpu": cpu}, job_priority=rank, argv=argv, **more
    )
    submissions.submit_session(_owner(), request)


def person(verb: str, name: str) -> None:
    """Do something to a session as its owner."""
    getattr(control, f"{verb}_session")(_owner(), models.Session.objects.get(name=name))


def rule(**changes: Any) -> None:
    """Change the rules of the group."""
    group = models.ResourceGroup.objects.select_related("policy").get(slug=GROUP)
    policies.change_policy(
        actors.SYSTEM, group, changes=changes, reason="a test", expected_version=group.policy.version
    )


def withdraw_all() -> None:
    """Take back every preemption under way."""
    emergency.withdraw_all(_owner(), models.ResourceGroup.objects.get(slug=GROUP), reason="a test")


def _owner() -> actors.Actor:
    return actors.of_user(models.User.objects.get(username=OWNER))


CALLS: dict[str, Callable[..., None]] = {
    "prepare": prepare,
    "submit": submit,
    "person": person,
    "rule": rule,
    "withdraw_all": withdraw_all,
}


def _answer(line: str) -> dict[str, str]:
    what, values = json.loads(line)
    try:
        CALLS[what](**values)
    except (errors.Refusal, errors.Staleness, models.Session.DoesNotExist) as refusal:
        return {"outcome": "failed", "why": str(refusal)}
    except Exception as fault:  # noqa: BLE001 - whatever a broken connection raises: it may have happened
        db.connections.close_all()
        return {"outcome": "unknown", "why": f"{type(fault).__name__}: {fault}"}
    return {"outcome": "ok", "why": ""}


if __name__ == "__main__":
    for one in sys.stdin:
        print(json.dumps(_answer(one)), flush=True)
