"""How a plan ends, and what a change of rules does to it."""

from __future__ import annotations

import pytest

from scheduler import clock, models
from scheduler.services import actors, plan_ends
from scheduler.services import work as unit


@pytest.fixture
def plan(make_cluster):
    group = make_cluster().group
    return models.PlannedChange.objects.create(
        group=group,
        kind="return",
        at=clock.now(),
        changes={"preemption_state": "off", "preemption_mode": "terminate"},
        version=group.policy,
        reason="because",
        created_by_name="root",
        created_at=clock.now(),
    )


def _overtake(plan, *, rules, except_id=None):
    with unit.begin(actors.SYSTEM) as work:
        plan_ends.overtake(work, plan.group, plan.group.policy, rules=rules, except_id=except_id)
    plan.refresh_from_db()
    return plan.end, plan.end_text


def test_a_change_of_its_rules_ends_it_and_names_them(plan):
    end, text = _overtake(plan, rules={"preemption_mode", "preemption_state", "grace_period"})

    assert end == "overtaken"
    assert text.endswith("changed what happens to a victim, preemption meanwhile, in version 1")


@pytest.mark.parametrize(("rules", "spared"), [({"grace_period"}, False), ({"preemption_state"}, True)])
def test_other_rules_and_the_plan_itself_do_not_end_it(plan, rules, spared):
    assert _overtake(plan, rules=rules, except_id=plan.pk if spared else None) == ("", "")


def test_a_plan_that_was_carried_out_is_not_told_twice(plan):
    with unit.begin(actors.SYSTEM) as work:
        plan_ends.close(work, plan, plan_ends.End.DONE)

    assert plan_ends.open_plan(plan.group_id) is None
    assert not models.Event.objects.filter(type="group.plan_ended").exists()
