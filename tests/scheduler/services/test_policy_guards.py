"""A fresh log-in to switch on, and the group's name where many would be stopped."""

from __future__ import annotations

import pytest

from scheduler import errors
from scheduler.services import actors, planned_changes, policies, policy_guards

ON = {"preemption_state": "on"}
FRESH, OLD = policy_guards.Assent(True), policy_guards.Assent(False)


@pytest.fixture
def contested(make_cluster, settings):
    """Two low sessions fill the node, a higher one of their owner waits for both."""
    settings.CONFIRM_ABOVE_VICTIMS = 1
    cluster = make_cluster()
    for _ in range(2):
        cluster.run(cluster.alice, cpu="2", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    return cluster


def _change(cluster, changes, assent):
    actor = actors.of_user(cluster.admin)
    wish = policies.Wish(changes, "because", None)
    return planned_changes.change(actor, cluster.group, wish, assent=assent).version


def _refusal(cluster, changes, assent):
    with pytest.raises(errors.Refusal) as caught:
        _change(cluster, changes, assent)
    return caught.value.code, dict(caught.value.fields)


def test_an_old_log_in_switches_nothing_on(contested):
    code, fields = _refusal(contested, ON, OLD)

    assert (code, list(fields)) == ("log-in-again", ["password"])
    assert policies.lock(contested.group)[1].version == 1


@pytest.mark.parametrize("changes", [{"preemption_state": "shadow"}, {"grace_period": 33}])
def test_an_old_log_in_may_do_what_stops_nobody(contested, changes):
    assert _change(contested, changes, OLD).version == 2


@pytest.mark.parametrize("typed", ["", "other", "G"])
def test_many_victims_take_the_name_of_the_group(contested, typed):
    code, fields = _refusal(contested, ON, policy_guards.Assent(True, typed))

    assert (code, fields) == ("confirm", {"confirm": "write g: 2 sessions would be stopped now"})


def test_the_name_switches_on_and_blanks_do_not_matter(contested):
    assert _change(contested, ON, policy_guards.Assent(True, " g ")).preemption_state == "on"


def test_as_many_victims_as_the_setting_says_take_no_name(contested, settings):
    settings.CONFIRM_ABOVE_VICTIMS = 2

    assert _change(contested, ON, FRESH).preemption_state == "on"


def test_a_change_of_what_is_on_already_takes_the_name_but_no_fresh_log_in(contested):
    _change(contested, ON, policy_guards.Assent(True, "g"))

    assert _refusal(contested, {"grace_period": 33}, OLD)[0] == "confirm"
    assert _change(contested, {"grace_period": 33}, policy_guards.Assent(False, "g")).version == 3


def test_rules_that_spare_the_victims_take_no_name(contested):
    assert _change(contested, {**ON, "preemption_min_runtime": 10**6}, FRESH).preemption_state == "on"


def test_switching_off_is_never_guarded(contested):
    _change(contested, ON, policy_guards.Assent(True, "g"))

    assert _change(contested, {"preemption_state": "off"}, OLD).preemption_state == "off"


def test_what_changes_nothing_is_said_before_anything_is_asked(contested):
    assert _refusal(contested, {"preemption_state": "off"}, OLD)[0] == "no-change"
