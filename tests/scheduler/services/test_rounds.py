"""A round over one group, from submit to the outcome of a preemption, with a double of the agent."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduler import models
from scheduler.protocol import messages
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def test_a_session_that_fits_is_scheduled_started_and_ended(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice, cpu="2")

    cluster.round()

    assert conftest.state_of(session) == "scheduled"
    assert cluster.slot() == (2000, 0)
    cluster.agent.starts(session)
    assert conftest.state_of(session) == "running"
    cluster.agent.ends(session, 0)
    session.refresh_from_db()
    assert (session.state, session.result) == ("terminated", "success")
    assert cluster.slot() == (0, 0)
    assert not models.AgentCommand.objects.filter(settled_at=None).exists()


def test_off_stops_nothing(make_cluster):
    cluster = make_cluster()
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)

    cluster.round()

    assert conftest.state_of(low) == "running"
    assert high.pend_reason.reason == "no-resources"
    assert not models.Decision.objects.exists()


def test_suspend_on_the_owner_axis_from_decision_to_resume(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)

    cluster.round()

    assert conftest.state_of(low) == "preempted"
    assert cluster.slot() == (4000, 0)
    assert high.pend_reason.reason == "awaiting-victims"
    cluster.agent.suspends(low)
    assert conftest.state_of(low) == "suspended"
    assert cluster.slot() == (0, 4000)
    cluster.round()
    assert conftest.state_of(high) == "scheduled"
    assert cluster.slot() == (4000, 0)
    cluster.agent.starts(high)
    outcome = models.Outcome.objects.get()
    assert outcome.kind == "used"
    cluster.agent.ends(high)
    cluster.round()
    assert conftest.state_of(low) == "scheduled"
    cluster.agent.resumes(low)
    low.refresh_from_db()
    assert (low.state, low.attempt, low.epoch, low.times_preempted) == ("running", 1, 2, 1)


def test_the_freed_room_is_kept_from_a_newcomer_of_higher_priority(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    cluster.agent.suspends(low)
    other = cluster.submit(cluster.bob, cpu="4", priority=100)

    cluster.round()

    assert conftest.state_of(high) == "scheduled"
    assert conftest.state_of(other) == "pending"


def test_reschedule_returns_the_victim_to_the_queue_with_the_next_attempt(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="reschedule")
    low = cluster.run(cluster.alice, cpu="4", job_priority=1, exit_0_after_warning="checkpointed")
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.agent.ends(low, 0, by=messages.StopCommand, checkpointed=True)

    low.refresh_from_db()
    assert (low.state, low.attempt, low.result) == ("pending", 2, "")
    assert [run.how_ended for run in low.runs.all()] == ["preempted"]
    assert models.VictimFate.objects.get().fate == "stopped"


def test_exit_0_after_the_warning_is_finished_work(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="reschedule")
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.agent.ends(low, 0, by=messages.StopCommand)

    low.refresh_from_db()
    assert (low.state, low.result) == ("terminated", "success")
    assert models.VictimFate.objects.get().fate == "finished"


def test_terminate_ends_the_victim_as_preempted_and_never_as_failed(make_cluster):
    cluster = make_cluster(preemption_state="on")
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.agent.ends(low, None, by=messages.StopCommand, signal=9)

    low.refresh_from_db()
    assert (low.state, low.result, low.result_reason) == ("terminated", "preempted", "PREEMPTED_BY_SCHEDULER")


def test_queue_axis_stops_the_lower_queue_of_another_owner(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.bob, cpu="4", queue="background", priority=5)
    cluster.submit(cluster.alice, cpu="4", queue="urgent", priority=50)

    cluster.round()

    victim = models.Victim.objects.get()
    assert conftest.state_of(low) == "preempted"
    assert (victim.axis, victim.own_value, victim.preemptor_value) == ("queue", 5, 50)


def test_shadow_records_once_and_stops_nothing(make_cluster):
    cluster = make_cluster(preemption_state="shadow", preemption_mode="suspend")
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)

    for _ in range(3):
        cluster.round()

    assert conftest.state_of(low) == "running"
    assert models.ShadowCount.objects.get().count == 3
    assert models.Decision.objects.get().kind == "shadow"
    assert not models.AgentCommand.objects.filter(kind="stop").exists()


def test_a_stop_that_fails_returns_the_victim_to_running_with_its_slots(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()

    cluster.agent.fails_to_stop(low)
    cluster.round()

    assert conftest.state_of(low) == "running"
    assert conftest.state_of(high) == "pending"
    assert cluster.slot() == (4000, 0)
    assert models.VictimFate.objects.get().fate == "stop-failed"
    assert models.Decision.objects.count() == 1


def test_a_failed_start_gives_all_back_and_the_fifth_holds_the_session(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)

    for _ in range(5):
        cluster.round()
        cluster.agent.fails_to_start(session)

    session.refresh_from_db()
    assert (session.state, session.is_held, session.dispatch_failures) == ("pending", True, 5)
    assert cluster.slot() == (0, 0)


def test_a_request_larger_than_any_node_can_never_run_as_asked(make_cluster):
    cluster = make_cluster(**ON)
    session = cluster.submit(cluster.alice, cpu="5")

    cluster.round()

    assert session.pend_reason.reason == "never-fits"


def test_gpu_indices_are_held_one_by_one_and_returned(make_cluster):
    cluster = make_cluster()
    one = cluster.run(cluster.alice, slots={"cpu": "1", "cuda.device": "2"})
    two = cluster.run(cluster.bob, slots={"cpu": "1", "cuda.device": "2"})

    held = {s.pk: s.allocations.get().indices["cuda.device"] for s in (one, two)}

    assert sorted(held[one.pk] + held[two.pk]) == [0, 1, 2, 3]
    cluster.agent.ends(one)
    assert models.NodeDevice.objects.filter(session=None).count() == 2


def test_events_are_numbered_without_gaps(make_cluster):
    cluster = make_cluster(**ON)
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    cluster.agent.suspends(low)

    numbers = list(models.Event.objects.values_list("number", flat=True))

    assert numbers == list(range(1, len(numbers) + 1))
    assert models.EventCounter.objects.get().last == len(numbers)


def statements_of_a_round(cluster):
    with CaptureQueriesContext(connection) as queries:
        summary = cluster.round()
    return summary, len(queries)


def test_where_nobody_waits_a_round_costs_next_to_nothing_and_counts_all_the_same(make_cluster):
    cluster = make_cluster()
    cluster.run(cluster.alice)
    before = cluster.round()
    summary, statements = statements_of_a_round(cluster)

    assert statements <= 11
    assert (summary.number, summary.dispatched, summary.pended) == (before.number + 1, 0, 0)
    state = models.GroupRounds.objects.get(group=cluster.group)
    assert (state.asked, state.last_number) == (state.served, summary.number)


@pytest.mark.parametrize("why", ["waits", "is suspended", "has room kept", "is stopped"])
def test_a_round_looks_at_all_wherever_something_could_be_decided(make_cluster, why):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    if why == "waits":
        cluster.submit(cluster.alice, cpu="4")
        cluster.submit(cluster.alice, cpu="4")
        cluster.round()
    else:
        low, high = cluster.contest()
    if why in ("is suspended", "has room kept"):
        cluster.agent.suspends(low)
    if why == "is suspended":
        cluster.round()
        cluster.agent.starts(high)

    _, statements = statements_of_a_round(cluster)

    assert statements > 25
