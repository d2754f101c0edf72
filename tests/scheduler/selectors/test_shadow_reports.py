"""What preemption would have done while a group was in shadow."""

from __future__ import annotations

import datetime

import pytest

from scheduler import errors, models
from scheduler.selectors import shadow_reports
from tests import decision_factories, model_factories


@pytest.fixture
def dim(world):
    """A group in shadow where the owner's session waits above two that run since ten minutes."""
    group = model_factories.a_group("dim", preemption_state="off", preemption_mode="reschedule")
    model_factories.a_policy_version(group, preemption_state="shadow")
    node = model_factories.a_node("dim-1", group=group)
    queue = model_factories.a_queue("dim", groups=[group])
    model_factories.a_role(world.people["operator"], group, "operator")
    fields = {"queue": queue, "slots": {"cuda.device": 1}, "started_at": model_factories.ago(600)}
    victims = [
        model_factories.a_session(
            owner=world.people[name], name=f"of-{name}", state="running", node=node, **fields
        )
        for name in ("owner", "submitter")
    ]
    waits = model_factories.a_session(owner=world.people["owner"], queue=queue, name="eager", job_priority=50)
    return group, node, victims, waits


def _sees(dim, victims, *, count=1, preemptor=None):
    _, node, _, waits = dim
    decision = decision_factories.a_preemption(
        preemptor or waits, victims, node=node, axis="queue", kind="shadow"
    )
    models.ShadowCount.objects.create(
        decision=decision, key=str(decision.pk), count=count, last_at=decision.at
    )
    return decision


def _load(world, dim, viewer="operator"):
    return shadow_reports.load(world.people[viewer], dim[0])


def test_sessions_owners_and_work_are_counted_once_and_repeats_told(world, dim):
    _, _, (mine, other), _ = dim
    models.Session.objects.filter(pk__in=[mine.pk, other.pk]).update(priority=1)
    for row in (mine, other):
        row.priority = 1
    _sees(dim, [mine], count=5)
    _sees(dim, [mine, other])

    found = _load(world, dim)

    assert (found.decisions, found.rounds, found.stopped, found.helped) == (2, 6, 2, 1)
    assert [(row.name, times) for row, times in found.repeats] == [("of-owner", 2)]
    assert 1190 <= found.lost["cuda.device"] <= 1230
    assert [(one.owner, one.stopped, one.helped) for one in found.owners] == [
        ("olivia", 1, 1),
        ("submitter", 1, 0),
    ]
    assert (found.still_waiting, found.until, found.is_cut) == (1, None, False)


def test_waiting_is_measured_from_the_first_decision_to_the_start(world, dim):
    _, node, (mine, _), waits = dim
    mine.priority = 1
    decision = _sees(dim, [mine])
    _sees(dim, [mine])
    started = decision.at + datetime.timedelta(seconds=1234)
    model_factories.a_run(waits, node, started_at=started)

    found = _load(world, dim)

    assert (found.waited_s, found.still_waiting) == (1234, 0)


def test_a_suspend_would_have_lost_nothing(world, dim):
    group, _, (mine, _), waits = dim
    model_factories.a_policy_version(group, preemption_mode="suspend")
    mine.priority, waits.group = 1, group
    _sees(dim, [mine])

    assert (_load(world, dim).stopped, _load(world, dim).lost) == (1, {})


def test_what_came_before_or_after_the_last_time_in_shadow_is_left_out(world, dim):
    group, _, (mine, _), _ = dim
    mine.priority = 1
    _sees(dim, [mine])
    model_factories.a_policy_version(group, preemption_state="on")
    assert (_load(world, dim).decisions, _load(world, dim).until is not None) == (1, True)

    model_factories.a_policy_version(group, preemption_state="shadow")
    model_factories.a_policy_version(group, grace_period=12)

    assert _load(world, dim).decisions == 0
    assert _load(world, dim).since == group.policy_versions.get(version=4).created_at


def test_private_sessions_of_others_are_in_no_count(world, dim):
    _, _, (mine, other), _ = dim
    mine.priority = other.priority = 1
    models.Session.objects.filter(pk=other.pk).update(is_private=True)
    _sees(dim, [mine, other])

    assert (_load(world, dim).stopped, [one.owner for one in _load(world, dim).owners]) == (1, ["olivia"])
    assert _load(world, dim, "administrator").stopped == 2


def test_who_may_not_preview_sees_no_report_and_never_is_said(world, dim):
    with pytest.raises(errors.NotAllowed):
        _load(world, dim, "viewer")
    with pytest.raises(errors.NotVisible):
        shadow_reports.require(world.people["operator"], world.group)


def test_a_time_without_decisions_is_a_report_of_nothing(world, dim):
    found = _load(world, dim)

    assert (found.decisions, found.stopped, found.lost, found.owners) == (0, 0, {}, [])
