"""Commit by compare-and-set: a decision whose ground moved is dropped with its dependants, the others stand."""

from __future__ import annotations

import dataclasses

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from scheduler import errors, models
from scheduler.core import decisions, resources
from scheduler.services import actors, control, nodes, orders, policies, rounds
from tests import decision_factories, model_factories
from tests.scheduler.services import conftest, staging

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def _as(user):
    return actors.of_user(user)


def test_a_cancelled_session_is_not_dispatched_and_the_others_are(make_cluster, between):
    cluster = make_cluster()
    one, two = cluster.submit(cluster.alice), cluster.submit(cluster.bob)
    between(lambda: control.cancel_session(_as(cluster.alice), one))

    summary = cluster.round()

    assert (summary.dispatched, summary.dropped) == (1, 1)
    assert (conftest.state_of(one), conftest.state_of(two)) == ("terminated", "scheduled")
    assert cluster.slot() == (2000, 0)


def test_a_dropped_decision_asks_for_another_round(make_cluster, between):
    cluster = make_cluster()
    one = cluster.submit(cluster.alice)
    between(lambda: control.hold_session(_as(cluster.alice), one))

    cluster.round()

    state = models.GroupRounds.objects.get()
    assert state.asked > state.served


def test_a_node_that_was_drained_meanwhile_gets_nothing(make_cluster, between):
    cluster = make_cluster()
    one = cluster.submit(cluster.alice)
    between(lambda: nodes.set_node_state(actors.SYSTEM, cluster.node, state="draining", reason="new disk"))

    assert cluster.round().dropped == 1
    assert conftest.state_of(one) == "pending"


@pytest.mark.parametrize("change", ["victim raised", "victim ended", "preemptor lowered", "switched off"])
def test_a_preemption_whose_ground_moved_stops_nobody(make_cluster, between, change):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    acts = {
        "victim raised": lambda: control.change_session(_as(cluster.alice), low, job_priority=30),
        "victim ended": lambda: cluster.agent.ends(low),
        "preemptor lowered": lambda: control.change_session(_as(cluster.alice), high, job_priority=0),
        "switched off": lambda: policies.change_policy(
            _as(cluster.admin),
            cluster.group,
            changes={"preemption_state": "off"},
            reason="no more",
            expected_version=1,
        ),
    }
    between(acts[change])

    assert cluster.round().dropped == 1

    assert not models.AgentCommand.objects.filter(kind="stop").exists()
    assert not models.Decision.objects.exists()
    assert not models.Round.objects.exists()
    assert not models.PendReason.objects.filter(session=high, reason="awaiting-victims").exists()


def test_what_depends_on_a_dropped_preemption_is_dropped_with_it(make_cluster, between):
    cluster = make_cluster(**ON)
    cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="2", job_priority=20)
    waiter = cluster.submit(cluster.bob, cpu="2")
    between(lambda: control.cancel_session(_as(cluster.alice), high))

    assert cluster.round().dropped == 2

    assert not models.Reservation.objects.exists()
    assert conftest.state_of(waiter) == "pending"


def test_who_waits_for_a_victim_of_the_same_round_gets_its_promise(make_cluster):
    cluster = make_cluster(**ON)
    cluster.run(cluster.alice, cpu="4", job_priority=1)
    cluster.submit(cluster.alice, cpu="2", job_priority=20)
    waiter = cluster.submit(cluster.bob, cpu="2")

    summary = cluster.round()

    assert summary.dropped == 0
    assert models.Reservation.objects.get(session=waiter).decision.kind == "wait"


def test_a_round_goes_on_after_a_decision_that_the_database_refuses(make_cluster, between):
    cluster = make_cluster(**ON)
    for owner in (cluster.alice, cluster.bob):
        cluster.run(owner, cpu="2", job_priority=1)
    first = cluster.submit(cluster.alice, cpu="2", job_priority=20, priority=50)
    second = cluster.submit(cluster.bob, cpu="2", job_priority=20, priority=40)
    between(lambda: _reserve_behind_its_back(cluster, first))

    summary = cluster.round()
    models.Reservation.objects.filter(session=first).delete()

    assert (summary.preempted, summary.dropped) == (1, 1)
    decision = models.Decision.objects.get(kind="preempt")
    assert decision.session == second
    assert decision.round == models.Round.objects.earliest("number")


def _reserve_behind_its_back(cluster, session):
    """Make the one reservation that the session may have, so that the database refuses another."""
    decision = models.Decision.objects.create(
        round=decision_factories.a_round(cluster.group, number=10**9),
        group=cluster.group,
        session=session,
        op=decisions.DecisionOp.PEND,
        kind="wait",
        node=cluster.node,
        attempt=1,
        record={},
        at=session.submitted_at,
    )
    models.Reservation.objects.create(
        decision=decision, session=session, node=cluster.node, slots={}, deadline=session.submitted_at
    )


def _decide(monkeypatch, *found):
    """Let the next rounds decide just this."""
    monkeypatch.setattr(
        rounds.core_rounds, "run_round", lambda snapshot, decide, **more: [decide(each) for each in found]
    )


def _takeover(cluster, top, kept, *, releasing=()):
    request = resources.ResourceVector(top.slots)
    drawn = resources.ResourceVector(kept.drawn)
    record = decision_factories._record(top, [], (cluster.node, "owner", "job_priority"), ())
    return dataclasses.replace(
        record, takes_over=kept.pk, slots=request, draw=drawn, releasing_ids=tuple(releasing)
    )


def test_a_takeover_hands_the_room_over_and_closes_the_record_as_transferred(make_cluster, monkeypatch):
    cluster = make_cluster(**ON)
    low, middle = cluster.contest()
    cluster.agent.suspends(low)
    kept = models.Reservation.objects.get()
    top = cluster.submit(cluster.alice, cpu="4", job_priority=40)
    _decide(monkeypatch, _takeover(cluster, top, kept))

    cluster.round()

    taken = models.Reservation.objects.get()
    assert (taken.session, taken.drawn, taken.deadline) == (top, {"cpu": 4000}, kept.deadline)
    assert conftest.outcome_of(middle) == "transferred: taken over"
    assert cluster.slot() == (0, 4000)
    assert models.PreemptionEdge.objects.filter(winner=top, loser=middle).exists()


def test_a_victim_of_a_transferred_decision_is_asked_back_when_its_taker_goes(make_cluster, monkeypatch):
    cluster = make_cluster(**ON)
    low, _ = cluster.contest()
    kept = models.Reservation.objects.get()
    top = cluster.submit(cluster.alice, cpu="4", job_priority=40)
    _decide(monkeypatch, _takeover(cluster, top, kept, releasing=[low.pk]))
    cluster.round()

    control.cancel_session(_as(cluster.alice), top)
    cluster.agent.withdraws(low)

    assert conftest.state_of(low) == "running"
    assert conftest.fate_of(low) == "withdrawn"


def test_a_superfluous_victim_is_asked_back_at_the_takeover(make_cluster, monkeypatch):
    cluster = make_cluster(**ON)
    low, _ = cluster.contest()
    kept = models.Reservation.objects.get()
    top = cluster.submit(cluster.alice, cpu="4", job_priority=40)
    _decide(monkeypatch, _takeover(cluster, top, kept))

    cluster.round()
    cluster.agent.withdraws(low)

    assert conftest.state_of(low) == "running"


def test_a_takeover_of_a_reservation_that_is_gone_is_dropped(make_cluster, monkeypatch):
    cluster = make_cluster(**ON)
    _, middle = cluster.contest()
    kept = models.Reservation.objects.get()
    top = cluster.submit(cluster.alice, cpu="4", job_priority=40)
    control.cancel_session(_as(cluster.alice), middle)
    _decide(monkeypatch, _takeover(cluster, top, kept))

    assert cluster.round().dropped == 1
    assert not models.Reservation.objects.exists()


def test_a_session_that_somebody_holds_is_explained_in_the_next_round(make_cluster, between):
    cluster = make_cluster()
    one = cluster.submit(cluster.alice, cpu="8")
    between(lambda: control.cancel_session(_as(cluster.alice), one))

    cluster.round()

    assert not models.PendReason.objects.filter(session=one).exists()


def test_p12_shadow_gives_no_orders(make_cluster):
    cluster = make_cluster(preemption_state="shadow", preemption_mode="suspend")
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    orders = models.AgentCommand.objects.count()
    cluster.submit(cluster.alice, cpu="4", job_priority=20)

    cluster.round()

    assert models.AgentCommand.objects.count() == orders
    assert conftest.state_of(low) == "running"
    assert models.Decision.objects.get().kind == "shadow"


def test_gpus_kept_in_a_suspend_are_not_counted_on(make_cluster):
    cluster = make_cluster(**ON, suspend_releases=["cpu"])
    low = cluster.run(cluster.alice, slots={"cpu": "4", "cuda.device": "4"}, job_priority=1)
    for_gpu = cluster.submit(cluster.alice, slots={"cpu": "1", "cuda.device": "1"}, job_priority=20)
    cluster.round()
    assert conftest.state_of(low) == "running"
    control.cancel_session(_as(cluster.alice), for_gpu)
    cluster.submit(cluster.alice, slots={"cpu": "4"}, job_priority=20)
    cluster.round()

    cluster.agent.suspends(low)

    assert cluster.slot() == (0, 4000)
    assert cluster.slot("cuda.device") == (4, 0)
    assert low.allocations.get().slots == {"cuda.device": 4}


def test_a_round_that_changes_no_headline_leaves_no_row(make_cluster):
    cluster = make_cluster()
    cluster.submit(cluster.alice, cpu="8")

    cluster.round()
    cluster.round()

    assert models.Round.objects.get().number == 1


def test_p02_a_victim_is_not_chosen_again_while_it_is_being_stopped(make_cluster):
    cluster = make_cluster(**staging.RULES)
    low, _ = cluster.contest()
    cluster.submit(cluster.alice, cpu="4", job_priority=30)

    for _ in range(3):
        cluster.round()

    assert models.Victim.objects.filter(session=low, fate=None).count() == 1
    assert models.AgentCommand.objects.filter(session=low, kind="stop").count() == 1


def _one_by_one(monkeypatch):
    """Let the writing of all starts together fail at its very end, so that each is tried by itself."""
    together = orders.start_all

    def fails(*given):
        together(*given)
        raise errors.StaleState("planted")

    monkeypatch.setattr(orders, "start_all", fails)


def _many_starts(cluster):
    cluster.join("n2", cpu=16_000)
    cluster.join("n3", cpu=4000, **{"cuda.device": 2})
    for owner in (cluster.alice, cluster.bob):
        for wanted in (
            {},
            {"queue": "urgent"},
            {"slots": {"cpu": "1", "cuda.device": "1"}},
            {"node_count": 2},
        ):
            cluster.submit(owner, **wanted)


def test_starts_written_together_leave_what_starts_written_one_by_one_leave(make_cluster, monkeypatch):
    cluster = make_cluster()
    _many_starts(cluster)
    pictures = []

    for is_single in (False, True):
        with monkeypatch.context() as patch, transaction.atomic():
            if is_single:
                _one_by_one(patch)
            summary = cluster.round()
            assert (summary.dispatched, summary.dropped) == (8, 0)
            pictures.append([staging.picture(), *_all_but_ids()])
            transaction.set_rollback(True)

    assert pictures[0] == pictures[1]


def _all_but_ids():
    times = {
        "state_since",
        "state_deadline",
        "dispatched_at",
        "created_at",
        "deadline",
        "sent_at",
        "send_again_at",
    }
    tables = (
        (models.Session, {}),
        (models.NodeDevice, {}),
        (models.OwnerUsage, {}),
        (models.QueueUsage, {}),
        (models.Run, {}),
        (models.AgentCommand, {"command_id", "body"}),
        (models.Event, {"at", "number"}),
        (models.Allocation, {"since"}),
    )
    for model, more in tables:
        names = {field.attname for field in model._meta.concrete_fields} - {"id", *times, *more}
        rows = [{name: getattr(row, name) for name in sorted(names)} for row in model.objects.all()]
        yield sorted(rows, key=str)


def test_starts_that_together_pass_a_limit_of_their_owner_go_as_far_as_it_reaches(make_cluster, between):
    cluster = make_cluster()
    policy = model_factories.a_resource_policy(max_concurrent_sessions=3)
    models.User.objects.filter(pk=cluster.alice.pk).update(policy=policy)
    for _ in range(3):
        cluster.submit(cluster.alice, cpu="1")
    between(lambda: models.OwnerUsage.objects.create(owner=cluster.alice, kind="sessions", used=1))

    summary = cluster.round()
    models.OwnerUsage.objects.filter(owner=cluster.alice, kind="sessions").update(used=F("used") - 1)

    assert (summary.dispatched, summary.dropped) == (2, 1)


def test_a_round_with_many_starts_takes_as_many_statements_as_one_with_few(make_cluster, monkeypatch):
    cluster = make_cluster()
    cluster.join("n2", cpu=64_000)
    counts = []
    for number in (2, 20):
        for _ in range(number):
            cluster.submit(cluster.alice, cpu="1")
        with CaptureQueriesContext(connection) as queries:
            assert cluster.round().dispatched == number
        counts.append(len(queries))

    assert counts[1] <= counts[0]
