"""
Every rule of a group by every path: exactly one audit row, with who, request, before, after and why (P05).

Made from the list of rules: a new rule is tried by itself, and one that a path cannot set fails.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from scheduler import clock, models
from scheduler.services import actors, planned_changes, policies
from tests import model_factories, worlds
from xceweb.api.v1 import rule_shapes
from xceweb.console import policy_form

RULES = models.PolicyVersion.RULES
#: Columns that say which version it is and who made it; everything else is a rule.
_OWN = {"id", "group", "version", "reason", "created_by", "created_by_name", "created_at"}
ADDRESS = "/api/v1/resource-groups/gpu/preemption"


def other(name: str, value: Any) -> Any:
    """Return another value that a rule may have."""
    column = models.PolicyVersion._meta.get_field(name)
    if column.choices:
        return next(choice for choice, _ in column.choices if choice != value)
    if name == "suspend_releases":
        return ["cpu"] if value is None else None
    if column.get_internal_type() == "BooleanField":
        return not value
    return 7 if value is None else value + 1


def by_page(
    world: worlds.World, row: models.PolicyVersion, name: str, value: Any, **more: str
) -> tuple[str, str]:
    """Send the form; return who did it and the request's id."""
    shown = policy_form.values(policies.draft(row, {name: value}))
    sent = {key: text for key, text in shown.items() if text is not None and text is not False}
    client = Client()
    client.force_login(world.people["manager"])
    answer = client.post(
        "/groups/gpu/policy/", {**sent, "version": row.version, "reason": f"try {name}", **more}
    )
    assert answer.status_code == 302, answer.content.decode()
    return "manager", answer["X-Request-ID"]


def _by_api(
    method: str, world: worlds.World, row: models.PolicyVersion, name: str, value: Any
) -> tuple[str, str]:
    body = {rule_shapes.short(rule): getattr(row, rule) for rule in RULES} if method == "PUT" else {}
    body |= {rule_shapes.short(name): value}
    client = Client()
    client.force_login(world.people["manager"])
    answer = client.generic(
        method,
        ADDRESS,
        json.dumps({"preemption": body, "reason": f"try {name}"}),
        content_type="application/json",
        headers={"If-Match": f'"{row.version}"'},
    )
    assert answer.status_code == 200, answer.content
    return "manager", answer["X-Request-ID"]


def by_put(world: worlds.World, row: models.PolicyVersion, name: str, value: Any) -> tuple[str, str]:
    """Replace all rules by the same ones but one."""
    return _by_api("PUT", world, row, name, value)


def by_patch(world: worlds.World, row: models.PolicyVersion, name: str, value: Any) -> tuple[str, str]:
    """Change one rule."""
    return _by_api("PATCH", world, row, name, value)


def by_command(world: worlds.World, row: models.PolicyVersion, name: str, value: Any) -> tuple[str, str]:
    """Change one rule from the shell; the command has a request id of its own."""
    rule = f"--rule={name}={json.dumps(value)}"
    call_command("preemption", "set", "gpu", rule, "--reason", f"try {name}", stdout=io.StringIO())
    return "command preemption", _last().request_id


def by_plan(world: worlds.World, row: models.PolicyVersion, name: str, value: Any) -> tuple[str, str]:
    """Let a planned change come due; it is the act of who planned it, with that request's id."""
    _, request_id = by_page(
        world, row, name, value, when="at", at=f"{model_factories.ago(-3600):%Y-%m-%dT%H:%M}"
    )
    models.PlannedChange.objects.filter(ended_at=None).update(at=clock.now())
    planned_changes.carry_out_due()
    return "manager", request_id


def by_service(world: worlds.World, row: models.PolicyVersion, name: str, value: Any) -> tuple[str, str]:
    """Call the service, as a shell does."""
    actor = actors.Actor(None, "a shell", "shell-1")
    policies.change_policy(
        actor, world.group, changes={name: value}, reason=f"try {name}", expected_version=row.version
    )
    return "a shell", "shell-1"


def _last() -> models.ConfigChange:
    return models.ConfigChange.objects.filter(object_type="resource group policy").latest("pk")


Path = Callable[[worlds.World, models.PolicyVersion, str, Any], tuple[str, str]]
PATHS: tuple[Path, ...] = (by_page, by_put, by_patch, by_command, by_plan, by_service)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
def test_p05_each_rule_by_each_path_is_audited_exactly_once(world: worlds.World, path: Path) -> None:
    """In the transaction of the version that it made."""
    for name in RULES:
        world.group.refresh_from_db()
        row = world.group.policy
        assert row is not None
        known = set(models.ConfigChange.objects.values_list("pk", flat=True))
        value = other(name, getattr(row, name))

        who, request_id = path(world, row, name, value)

        rows = models.ConfigChange.objects.exclude(pk__in=known).filter(object_type="resource group policy")
        (audit,) = rows
        assert (audit.actor_name, audit.request_id, audit.reason) == (who, request_id, f"try {name}"), name
        assert audit.request_id
        assert (audit.before, audit.after) == ({name: getattr(row, name)}, {name: value}), name
        assert (audit.group, audit.object_name) == (world.group, "gpu")
        assert getattr(policies.lock(world.group)[1], name) == value


def test_every_column_of_a_version_is_a_rule_or_says_which_it_is() -> None:
    """So that a new rule cannot be left out of the list."""
    columns = {column.name for column in models.PolicyVersion._meta.concrete_fields}

    assert columns == set(RULES) | _OWN
