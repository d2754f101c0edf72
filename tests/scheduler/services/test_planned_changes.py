"""Rules that change at a time, or for a while: exactly once, told, and never over somebody else's decision."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, errors, models
from scheduler.services import actors, audit, planned_changes, policies
from tests import model_factories

Plan = models.PlannedChange
ON = {"preemption_state": "on"}


def _change(cluster, changes, *, at_s=None, for_s=None, by=None, reason="night work", version=None):
    at = None if at_s is None else clock.now() + datetime.timedelta(seconds=at_s)
    wish = policies.Wish(changes, reason, version)
    actor = actors.of_user(by or cluster.admin, request_id="r-1")
    return planned_changes.change(actor, cluster.group, wish, planned_changes.When(at, for_s))


def _is_due(plan):
    Plan.objects.filter(pk=plan.pk).update(at=clock.now())


def _rules(cluster):
    cluster.group.refresh_from_db()
    return cluster.group.policy


def _audit(kind="resource group policy"):
    return list(models.ConfigChange.objects.filter(object_type=kind).order_by("pk"))


def _told(kind):
    return [event.data for event in models.Event.objects.filter(type=kind)]


def test_a_change_for_a_while_goes_back_by_itself_and_says_why(make_cluster):
    cluster = make_cluster()

    done = _change(cluster, {**ON, "preemption_mode": "suspend"}, for_s=7200)
    assert _rules(cluster).preemption_state == "on"
    assert done.plan.changes == {"preemption_state": "off", "preemption_mode": "terminate"}
    planned_changes.carry_out_due()
    assert _rules(cluster).version == 2

    _is_due(done.plan)
    planned_changes.carry_out_due()

    row = _rules(cluster)
    assert (row.version, row.preemption_state, row.preemption_mode) == (3, "off", "terminate")
    assert (row.created_by_name, row.created_by) == ("automatic", None)
    assert row.reason == "Back after 2 hours, as root set in version 2: night work"
    assert [(one.actor_name, one.request_id) for one in _audit()] == [("root", "r-1"), ("automatic", "r-1")]
    assert _audit()[0].after == {**ON, "preemption_mode": "suspend", "for_s": 7200}
    assert Plan.objects.get().end == "done"


def test_a_change_at_a_time_is_the_act_of_who_planned_it(make_cluster):
    cluster = make_cluster()

    plan = _change(cluster, ON, at_s=60, version=1).plan
    assert _rules(cluster).preemption_state == "off"
    assert [one.after["preemption_state"] for one in _audit(planned_changes.SUBJECT)] == ["on"]
    _is_due(plan)
    planned_changes.carry_out_due()
    planned_changes.carry_out_due()

    row = _rules(cluster)
    assert (row.version, row.preemption_state, row.created_by, row.reason) == (
        2,
        "on",
        cluster.admin,
        "night work",
    )
    assert len(_audit()) == 1


def test_a_change_at_a_time_for_a_while_goes_back_after_that_while(make_cluster):
    cluster = make_cluster()

    _is_due(_change(cluster, ON, at_s=60, for_s=600).plan)
    planned_changes.carry_out_due()

    plan = Plan.objects.get(ended_at=None)
    assert (plan.kind, plan.version.version, plan.changes) == ("return", 2, {"preemption_state": "off"})
    assert plan.at - _rules(cluster).created_at == datetime.timedelta(seconds=600)
    _is_due(plan)
    planned_changes.carry_out_due()
    assert (_rules(cluster).version, _rules(cluster).preemption_state) == (3, "off")


def test_what_dies_in_between_leaves_the_plan_to_the_next_look(make_cluster, monkeypatch):
    cluster = make_cluster()
    _is_due(_change(cluster, ON, for_s=60).plan)
    with monkeypatch.context() as broken:
        broken.setattr(audit, "record_change", lambda *args, **more: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            planned_changes.carry_out_due()
    assert (_rules(cluster).version, Plan.objects.get().end) == (2, "")

    for _ in range(2):
        planned_changes.carry_out_due()

    assert (_rules(cluster).version, _rules(cluster).preemption_state, len(_audit())) == (3, "off", 2)


def test_who_comes_second_with_an_old_row_carries_out_nothing(make_cluster):
    cluster = make_cluster()
    plan = _change(cluster, ON, for_s=60).plan
    first, second = Plan.objects.get(pk=plan.pk), Plan.objects.get(pk=plan.pk)

    assert [planned_changes.carry_out(first), planned_changes.carry_out(second)] == [True, False]
    assert _rules(cluster).version == 3


def test_a_way_back_overwrites_nobodys_later_decision_and_says_so(make_cluster):
    cluster = make_cluster()
    _change(cluster, ON, for_s=60)

    policies.change_policy(
        actors.of_user(cluster.admin),
        cluster.group,
        changes={"preemption_state": "shadow"},
        reason="watch instead",
        expected_version=2,
    )

    plan = Plan.objects.get()
    text = "root changed preemption meanwhile, in version 3"
    assert (plan.end, plan.end_text) == ("overtaken", text)
    assert [(one["end"], one["kind"], one["text"]) for one in _told("group.plan_ended")] == [
        ("overtaken", "return", text)
    ]
    _is_due(plan)
    planned_changes.carry_out_due()
    assert (_rules(cluster).version, _rules(cluster).preemption_state) == (3, "shadow")


def test_another_rule_that_changed_meanwhile_stays_changed(make_cluster):
    cluster = make_cluster()
    plan = _change(cluster, ON, for_s=60).plan
    _change(cluster, {"grace_period": 33})

    _is_due(plan)
    planned_changes.carry_out_due()

    assert (_rules(cluster).preemption_state, _rules(cluster).grace_period) == ("off", 33)


def test_a_cancelled_plan_is_not_carried_out(make_cluster):
    cluster = make_cluster()
    plan = _change(cluster, ON, at_s=60).plan

    planned_changes.cancel(actors.of_user(cluster.admin), cluster.group, reason="not tonight")

    _is_due(plan)
    planned_changes.carry_out_due()
    assert _rules(cluster).version == 1
    last = _audit(planned_changes.SUBJECT)[-1]
    assert (last.actor_name, last.before["preemption_state"], last.after, last.reason) == (
        "root",
        "on",
        {},
        "not tonight",
    )
    with pytest.raises(errors.Refusal, match="Nothing is planned"):
        planned_changes.cancel(actors.of_user(cluster.admin), cluster.group, reason="again")


def test_who_lost_the_role_meanwhile_switches_nothing_on(make_cluster):
    cluster = make_cluster()
    mona = model_factories.a_user("mona", group=cluster.group, role="manager")
    plan = _change(cluster, ON, at_s=60, by=mona).plan
    models.GroupRole.objects.filter(user=mona).delete()

    _is_due(plan)
    planned_changes.carry_out_due()

    assert _rules(cluster).preemption_state == "off"
    assert Plan.objects.values_list("end", "end_text").get() == (
        "failed",
        "mona may no longer change these rules",
    )
    assert _told("group.plan_ended")[0]["end"] == "failed"


def test_a_command_plans_and_is_still_allowed_to(make_cluster):
    cluster = make_cluster()
    at = clock.now() + datetime.timedelta(seconds=60)
    plan = planned_changes.change(
        actors.of_command("preemption"),
        cluster.group,
        policies.Wish(ON, "by cron", None),
        planned_changes.When(at),
    ).plan

    _is_due(plan)
    planned_changes.carry_out_due()

    assert (_rules(cluster).preemption_state, _rules(cluster).created_by_name) == ("on", "command preemption")


@pytest.mark.parametrize(
    ("asked", "code", "field"),
    [
        ({"at_s": -1}, "invalid", "at"),
        ({"at_s": 400 * 86_400}, "invalid", "at"),
        ({"for_s": 0}, "invalid", "for_s"),
        ({"for_s": 2**31}, "invalid", "for_s"),
        ({"at_s": 60, "reason": " "}, "reason-required", "reason"),
        ({"at_s": 60, "changes": {"preemption_mode": "freeze"}}, "invalid", "preemption_mode"),
        ({"at_s": 60, "changes": {"preemption_state": "off"}}, "no-change", None),
        ({"for_s": 60, "changes": {"preemption_state": "off"}}, "no-change", None),
        ({"at_s": 60, "version": 9}, "conflict", None),
    ],
)
def test_what_cannot_be_planned_is_refused_and_leaves_nothing(make_cluster, asked, code, field):
    cluster = make_cluster()
    asked = dict(asked)

    with pytest.raises(errors.Refusal) as caught:
        _change(cluster, asked.pop("changes", ON), **asked)

    assert (caught.value.code, list(caught.value.fields)) == (code, [field] if field else [])
    assert (_rules(cluster).version, Plan.objects.count(), len(_audit())) == (1, 0, 0)


@pytest.mark.parametrize("asked", [{"at_s": 60}, {"for_s": 60}])
def test_two_plans_at_once_are_refused(make_cluster, asked):
    cluster = make_cluster()
    _change(cluster, ON, at_s=600)

    with pytest.raises(errors.Refusal) as caught:
        _change(cluster, {"grace_period": 33}, **asked)

    assert caught.value.code == "already-planned"
    assert (_rules(cluster).grace_period, Plan.objects.count()) == (10, 1)


def test_a_submitter_plans_and_cancels_nothing(make_cluster):
    cluster = make_cluster()
    _change(cluster, ON, at_s=600)

    with pytest.raises(errors.NotAllowed):
        _change(cluster, {"grace_period": 33}, at_s=60, by=cluster.alice)
    with pytest.raises(errors.NotAllowed):
        planned_changes.cancel(actors.of_user(cluster.alice), cluster.group, reason="no thanks")


def test_the_way_back_to_off_withdraws_what_is_only_warned(make_cluster):
    cluster = make_cluster(preemption_mode="suspend")
    plan = _change(cluster, ON, for_s=60).plan
    low, _ = cluster.contest()
    _is_due(plan)

    planned_changes.carry_out_due()
    cluster.agent.withdraws(low)
    cluster.round()

    low.refresh_from_db()
    assert low.state == "running"
