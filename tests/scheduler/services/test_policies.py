"""The switch and the rules: versions, reasons, conflicts, and off means off."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, transaction

from scheduler import errors, models
from scheduler.selectors import preview
from scheduler.services import actors, policies
from tests.scheduler.services import conftest


def _change(cluster, user, changes, *, reason="because", version=1):
    cluster.group.refresh_from_db()
    return policies.change_policy(
        actors.of_user(user), cluster.group, changes=changes, reason=reason, expected_version=version
    )


def test_p05_a_change_makes_a_version_one_audit_row_and_one_event(make_cluster):
    cluster = make_cluster()

    row = _change(cluster, cluster.admin, {"preemption_state": "on"}, reason="Demo at noon")

    change = models.ConfigChange.objects.filter(object_type="resource group policy").get()
    assert (row.version, row.created_by_name, row.reason) == (2, "root", "Demo at noon")
    assert (change.before, change.after) == ({"preemption_state": "off"}, {"preemption_state": "on"})
    assert models.Event.objects.filter(type="group.policy_changed").count() == 1


@pytest.mark.parametrize("reason", ["", "  ", "x"])
def test_a_toggle_without_a_reason_changes_nothing(make_cluster, reason):
    cluster = make_cluster()

    with pytest.raises(errors.Refusal) as caught:
        _change(cluster, cluster.admin, {"preemption_state": "on"}, reason=reason)

    assert caught.value.code == "reason-required"
    assert models.PolicyVersion.objects.count() == 1


def test_a_change_made_from_an_older_version_is_a_conflict(make_cluster):
    cluster = make_cluster()
    _change(cluster, cluster.admin, {"preemption_state": "shadow"})

    with pytest.raises(errors.Conflict) as caught:
        _change(cluster, cluster.admin, {"preemption_state": "on"}, version=1)

    assert caught.value.facts["current"].version == 2


def test_a_submitter_may_not_change_the_rules(make_cluster):
    cluster = make_cluster()

    with pytest.raises(errors.NotAllowed):
        _change(cluster, cluster.alice, {"preemption_state": "on"})


@pytest.mark.parametrize(
    "changes",
    [{"preemption_state": "maybe"}, {"no_such": 1}, {"grace_period": -1}, {"suspend_releases": ["gpus"]}],
    ids=["state", "field", "grace", "kind"],
)
def test_an_impossible_value_is_refused_by_field(make_cluster, changes):
    cluster = make_cluster()

    with pytest.raises(errors.Refusal) as caught:
        _change(cluster, cluster.admin, changes)

    assert set(caught.value.fields) == set(changes)


def test_p12_switching_off_takes_back_what_is_only_warned(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    _change(cluster, cluster.admin, {"preemption_state": "off"})
    cluster.agent.withdraws(low)
    cluster.round()

    assert conftest.state_of(low) == "running"
    assert models.Outcome.objects.get().kind == "withdrawn"
    assert not models.AgentCommand.objects.filter(kind="stop", settled_at=None).exists()


def test_preview_names_the_victims_of_the_next_round_and_leaves_nothing(make_cluster):
    cluster = make_cluster()
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    counts = models.Event.objects.count(), models.Round.objects.count()

    seen = preview.preview_policy(cluster.admin, cluster.group, {"preemption_mode": "suspend"})

    assert [(v.session.pk, v.preemptor.pk, v.own_value, v.preemptor_value) for v in seen.victims] == [
        (low.pk, high.pk, 1, 20)
    ]
    assert counts == (models.Event.objects.count(), models.Round.objects.count())
    _change(cluster, cluster.admin, {"preemption_state": "on", "preemption_mode": "suspend"})
    cluster.round()
    assert conftest.state_of(low) == "preempted"


@pytest.mark.parametrize("model", [models.Event, models.ConfigChange, models.PolicyVersion])
def test_p05_append_only_tables_refuse_update_and_delete(make_cluster, model):
    cluster = make_cluster()
    _change(cluster, cluster.admin, {"preemption_state": "on"})
    changes = {"actor_name": "x"} if model is not models.PolicyVersion else {"created_by_name": "x"}

    for act in (lambda: model.objects.all()._raw_delete("default"), lambda: model.objects.update(**changes)):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()
