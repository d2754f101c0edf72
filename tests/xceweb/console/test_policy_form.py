"""The policy form as it reads rules."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from tests import worlds
from xceweb.console import policy_form


def test_a_form_tells_its_changes_against_its_own_version(world: worlds.World) -> None:
    """Not against a newer one."""
    current = world.group.policy
    sent = {k: v for k, v in policy_form.values(current).items() if v is not None and v is not False}

    form = policy_form.PolicyForm(current, {**sent, "version": 1, "grace_period": 11})

    assert form.is_valid(), form.errors
    assert form.changes() == {"grace_period": 11}


@pytest.mark.parametrize(
    ("sent", "state"),
    [({}, "on"), ({"preemption_state": "maybe"}, "on"), ({"preemption_state": "off"}, "off")],
)
def test_a_switch_that_is_not_sent_stays(world: worlds.World, sent: dict[str, str], state: str) -> None:
    """For the preview of a half-filled form."""
    assert policy_form.PolicyForm(world.group.policy, sent).state() == state


def test_a_refusal_is_shown_at_its_rule(world: worlds.World) -> None:
    """Or at the top."""
    form = policy_form.PolicyForm(world.group.policy, {})
    form.full_clean()
    form.errors.clear()

    form.add_refusal(errors.Refusal(fields={"reason": "write why"}))
    form.add_refusal(errors.Refusal("nothing changes"))

    assert form.errors == {"reason": ["Write why."], "__all__": ["nothing changes"]}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("requeue_suspended", True, "yes"),
        ("max_suspend_time", None, "no limit"),
        ("preemption_scope", "owner_then_queue", "owner then queue"),
        ("grace_period", 0, "0"),
    ],
)
def test_a_value_is_written_in_words(name: str, value: object, text: str) -> None:
    """For history and conflicts."""
    assert policy_form.text(name, value) == text


def test_each_rule_that_is_offered_has_a_field_with_its_words() -> None:
    """A new rule needs its texts in the same change."""
    every = set(models.PolicyVersion.RULES)

    assert {*policy_form.TEXTS, "preemption_state"} == set(policy_form.RULES)
    assert set(policy_form.RULES) == every
    assert set(policy_form.FIRST) <= set(policy_form.TEXTS)
