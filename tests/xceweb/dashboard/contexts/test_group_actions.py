"""The buttons of an emergency."""

from __future__ import annotations

import pytest
from django.utils import timezone

from scheduler import models
from tests import model_factories, worlds
from xceweb.dashboard.contexts import group_actions


def _labels(world: worlds.World, who: str = "manager") -> list[str]:
    group = models.ResourceGroup.objects.select_related("policy").get(pk=world.group.pk)
    return [action["label"] for action in group_actions.of(world.people[who], group)]


@pytest.mark.parametrize("who", ["viewer", "owner", "operator", "outsider"])
def test_only_managers_have_them(world: worlds.World, who: str) -> None:
    """Operators act on nodes and sessions."""
    assert _labels(world, who) == []


def test_starting_is_stopped_or_allowed_again(world: worlds.World) -> None:
    """One button, by what holds now."""
    before = _labels(world)
    model_factories.a_policy_version(world.group, starting=False)

    assert (before, _labels(world)) == (["Stop starting"], ["Start again"])


def test_all_under_way_can_be_taken_back_while_something_is(world: worlds.World) -> None:
    """The text counts it."""
    assert _labels(world, "administrator") == ["Stop starting"]
    models.Reservation.objects.create(
        decision=world.decision, session=world.waiting, node=world.node, slots={}, deadline=timezone.now()
    )

    actions = group_actions.of(world.people["administrator"], world.group)

    assert actions[-1]["label"] == "Withdraw all under way"
    assert actions[-1]["text"].startswith("1 preemption or wait is under way.")
