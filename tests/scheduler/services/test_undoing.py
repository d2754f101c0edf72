"""Going back to the version before: as if it had never been, until a round has acted on it."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.services import actors, planned_changes, policies, policy_guards, undoing
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def _turn_on(cluster, **when):
    wish = policies.Wish(ON, "trial", None)
    planned_changes.change(actors.of_user(cluster.admin), cluster.group, wish, planned_changes.When(**when))


def _undo(cluster, *, version=2, by=None, assent=None, **more):
    wish = undoing.Wish(version, more.pop("reason", "too early"), **more)
    return undoing.undo(actors.of_user(by or cluster.admin), cluster.group, wish, assent)


def test_an_undo_is_a_version_of_its_own_with_one_audit_row(make_cluster):
    cluster = make_cluster()
    _turn_on(cluster)

    row = _undo(cluster, only_unacted=True)

    assert (row.version, row.preemption_state, row.preemption_mode, row.reason) == (
        3,
        "off",
        "terminate",
        "too early",
    )
    assert models.ConfigChange.objects.filter(object_type="resource group policy").count() == 2


def test_once_a_round_has_acted_the_quick_undo_is_refused_and_the_other_takes_back(make_cluster):
    cluster = make_cluster()
    _turn_on(cluster)
    low, _ = cluster.contest()

    with pytest.raises(undoing.Acted):
        _undo(cluster, only_unacted=True)
    assert policies.lock(cluster.group)[1].version == 2

    _undo(cluster)
    cluster.agent.withdraws(low)
    assert conftest.state_of(low) == "running"


def test_rounds_that_stop_nobody_have_not_acted(make_cluster):
    cluster = make_cluster()
    _turn_on(cluster)
    cluster.run(cluster.alice)

    assert _undo(cluster, only_unacted=True).version == 3


def test_the_way_back_of_the_undone_version_is_cancelled_with_it(make_cluster):
    cluster = make_cluster()
    _turn_on(cluster, for_s=600)

    _undo(cluster)

    assert models.PlannedChange.objects.values_list("end", "end_text").get() == (
        "cancelled",
        "version 2 was undone",
    )


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"version": 1}, errors.Conflict),
        ({"version": 3}, errors.Conflict),
        ({"reason": " "}, errors.Refusal),
    ],
)
def test_what_cannot_be_undone_is_said_and_stays(make_cluster, more, fault):
    cluster = make_cluster()
    _turn_on(cluster, for_s=600)

    with pytest.raises(fault):
        _undo(cluster, **more)

    assert policies.lock(cluster.group)[1].version == 2
    assert models.PlannedChange.objects.get().end == ""


def test_the_first_version_has_none_before_it(make_cluster):
    with pytest.raises(errors.NotVisible):
        _undo(make_cluster(), version=1)


def test_an_undo_that_switches_on_takes_the_same_assent(make_cluster):
    cluster = make_cluster(**ON)
    policies.change_policy(
        actors.of_user(cluster.admin),
        cluster.group,
        changes={"preemption_state": "off"},
        reason="pause",
        expected_version=1,
    )

    with pytest.raises(policy_guards.LogInAgain):
        _undo(cluster, assent=policy_guards.Assent(False))
    with pytest.raises(errors.NotAllowed):
        _undo(cluster, by=cluster.alice)
    assert _undo(cluster, assent=policy_guards.Assent(True)).preemption_state == "on"
