"""What will change by itself, in words."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler import models
from scheduler.services import actors, planned_changes, policies
from tests import worlds
from xceweb.console.contexts import planned


def change(world: worlds.World, changes: dict[str, Any], **when: Any) -> None:
    """Put rules into force for a while, as the manager."""
    actor = actors.of_user(world.people["manager"])
    wish = policies.Wish(changes, "a quiet night", None)
    planned_changes.change(actor, world.group, wish, planned_changes.When(**when))


def load(world: worlds.World) -> dict[str, Any]:
    """Return the context."""
    world.group.refresh_from_db()
    assert world.group.policy is not None
    return planned.load(world.group, world.group.policy)


def test_a_way_back_names_state_rules_and_reason(world: worlds.World) -> None:
    """With the version that it belongs to."""
    change(world, {"preemption_state": "off", "grace_period": 20}, for_s=7200)

    found = load(world)["planned"]

    assert (found["is_return"], found["state"], found["changes"]) == (True, "on", ["Grace: 10"])
    assert (found["for"], found["by"], found["version"]) == ("2 h", "manager", 2)
    assert found["cancel_url"] == "/groups/gpu/policy/cancel-planned/"


@pytest.mark.parametrize(
    ("again", "is_told"), [({"preemption_state": "shadow"}, True), ({"grace_period": 9}, False)]
)
def test_a_plan_that_was_overtaken_is_told_until_the_next_version(
    world: worlds.World, again: dict[str, Any], is_told: bool
) -> None:
    """And then it is old news."""
    change(world, {"preemption_state": "off"}, for_s=7200)

    change(world, again)

    assert (load(world)["dropped"] is not None) == is_told
    assert (load(world)["planned"] is None) == is_told
    if is_told:
        assert load(world)["dropped"]["why"] == "manager changed preemption meanwhile, in version 3"
        change(world, {"grace_period": 21})
        assert load(world) == {"planned": None, "dropped": None}


def test_without_a_plan_there_is_nothing(world: worlds.World) -> None:
    """No callout."""
    assert load(world) == {"planned": None, "dropped": None}
    assert not models.PlannedChange.objects.exists()
