"""A small cluster with people in every role, for tests of pages, API and socket."""

from __future__ import annotations

import dataclasses

from scheduler import models
from tests import decision_factories, model_factories

#: Everybody who may knock, from nobody to the administrator.
PEOPLE = (
    "anonymous",
    "viewer",
    "owner",
    "submitter",
    "operator",
    "manager",
    "outsider",
    "administrator",
)
#: Whose user name is not the word for the role, because that word stands on pages anyway.
NAMES = {"owner": "olivia"}


@dataclasses.dataclass(frozen=True)
class World:
    """One group with a preemption under way, its queues and node, and one person a role."""

    group: models.ResourceGroup
    elsewhere: models.ResourceGroup
    node: models.Node
    queues: dict[str, models.Queue]
    people: dict[str, models.User]
    running: models.Session
    waiting: models.Session
    victim: models.Session
    decision: models.Decision


def a_world() -> World:
    """Make it: ``victim`` of the owner is suspended for ``running``, ``waiting`` finds no room."""
    group = model_factories.a_group("gpu", preemption_state="on", preemption_mode="suspend")
    elsewhere = model_factories.a_group("elsewhere")
    node = model_factories.a_node("gpu-1", group=group)
    queues = _queues(group, elsewhere)
    people = _people(group, elsewhere)
    owner, queue = people["owner"], queues["normal"]
    secret = {"argv": ["/bin/secret-program"], "environment": {"TOKEN": "hidden-token"}}
    victim = model_factories.a_session(
        owner=owner, queue=queue, group=group, name="low-work", state="suspended", job_priority=5, **secret
    )
    running = model_factories.a_session(
        owner=owner, queue=queue, group=group, name="high-work", state="running", job_priority=20, **secret
    )
    waiting = model_factories.a_session(
        owner=owner, queue=queue, group=group, name="late-work", slots={"cuda.device": 8}, **secret
    )
    decision_factories.a_pend_reason(waiting)
    decision = decision_factories.a_preemption(running, [victim], node=node)
    _events(victim, running, waiting, decision)
    return World(group, elsewhere, node, queues, people, running, waiting, victim, decision)


def _queues(group: models.ResourceGroup, elsewhere: models.ResourceGroup) -> dict[str, models.Queue]:
    background = model_factories.a_queue("background", groups=[group], preemptible=True)
    urgent = model_factories.a_queue("urgent", groups=[group], preempts=[background])
    normal = model_factories.a_queue("normal", groups=[group])
    other = model_factories.a_queue("other", groups=[elsewhere])
    return {"background": background, "urgent": urgent, "normal": normal, "other": other}


def _people(group: models.ResourceGroup, elsewhere: models.ResourceGroup) -> dict[str, models.User]:
    roles = {"viewer": "viewer", "owner": "submitter", "submitter": "submitter"}
    roles |= {"operator": "operator", "manager": "manager"}
    people = {
        name: model_factories.a_user(NAMES.get(name, name), role=role, group=group)
        for name, role in roles.items()
    }
    people["outsider"] = model_factories.a_user("outsider", role="manager", group=elsewhere)
    people["administrator"] = model_factories.an_administrator("administrator")
    return people


def _events(
    victim: models.Session, running: models.Session, waiting: models.Session, decision: models.Decision
) -> None:
    for session in (victim, running, waiting):
        model_factories.an_event("session.submitted", session=session, actor_id=session.owner_id)
    model_factories.an_event("decision.preempt", session=running, decision=decision, data={"victims": 1})
    model_factories.an_event(
        "session.preempted", session=victim, decision=decision, data={"state": "preempted", "mode": "suspend"}
    )
    model_factories.an_event(
        "session.suspended", session=victim, decision=decision, data={"state": "suspended"}
    )
    model_factories.an_event("session.started", session=running, data={"state": "running"})
