"""A simulated cluster: time, placing, rounds, agents with habits."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import pytest
from celery import current_app
from django.db import transaction

from scheduler import clock, models
from scheduler.protocol import messages
from scheduler.selectors import consistency
from scheduler.services import actors as acting
from scheduler.services import control
from scheduler.simulator import habits, world

pytestmark = pytest.mark.django_db
RULES = {"preemption_state": "on", "preemption_mode": "suspend", "grace_period": 5}
FULL = {"cpu": 4000}


@pytest.fixture
def lively() -> Iterator[world.World]:
    """A cluster of one node whose agents answer by themselves."""
    with world.World(RULES, habits=habits.LIVELY).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("n1", FULL)
        cluster.obey()
        yield cluster
        assert consistency.findings() == []


def state(session: models.Session) -> str:
    """Return a session's state as stored."""
    return models.Session.objects.values_list("state", flat=True).get(pk=session.pk)


def submit(cluster: world.World, **wanted) -> models.Session:
    """Submit a session that fills the node."""
    return cluster.submit(cluster.owner("u1"), **{"name": "s", "amounts": FULL, **wanted})


def test_time_stands_until_it_is_moved_and_answers_come_at_their_own_moments(lively):
    session = submit(lively)
    lively.tick()
    assert state(session) == "scheduled"

    lively.advance(10)

    session.refresh_from_db()
    assert session.state == "running"
    assert session.started_at == world.BEGIN + datetime.timedelta(seconds=1)
    assert clock.now() == world.BEGIN + datetime.timedelta(seconds=10)


def test_a_lively_agent_suspends_resumes_and_ends_by_itself(lively):
    low = submit(lively, name="low", job_priority=1)
    lively.tick()
    lively.advance(1)
    high = submit(lively, name="high", job_priority=9)
    lively.tick()
    assert state(low) == "preempted"

    lively.advance(2)
    lively.tick()
    lively.advance(2)
    assert (state(low), state(high)) == ("suspended", "running")

    control.cancel_session(acting.of_user(high.owner), high)
    lively.advance(2)
    lively.tick()
    lively.advance(2)
    assert (state(low), state(high)) == ("running", "terminated")


def test_a_stop_by_kill_takes_no_longer_than_its_grace():
    slow = habits.Habits(stop_s=100)
    with world.World(RULES | {"preemption_mode": "terminate"}, habits=slow).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("n1", FULL)
        cluster.obey()
        low = submit(cluster, name="low", job_priority=1)
        cluster.tick()
        submit(cluster, name="high", job_priority=9)
        cluster.tick()
        cluster.advance(4)
        assert state(low) == "preempted"
        cluster.advance(1)
        assert state(low) == "terminated"


def test_a_session_is_placed_where_it_is_told_and_nowhere_twice(lively):
    lively.add_node("n2", {"cpu": 4000, "cuda.device": 2})
    first = submit(lively, amounts={"cpu": 1000, "cuda.device": 1})
    lively.place(first, {"n2": {"cpu": 1000, "cuda.device": 1}})
    held = models.Allocation.objects.get(session=first)

    assert (held.node.name, held.indices) == ("n2", {"cuda.device": [0]})
    assert not lively.try_to_place(submit(lively), {"n2": FULL})
    assert models.Allocation.objects.count() == 1


def test_at_another_moment_the_past_can_be_written(lively):
    with lively.at(world.BEGIN - world.PAST):
        session = submit(lively)

    assert session.submitted_at == world.BEGIN - world.PAST
    assert clock.now() == world.BEGIN


def test_a_silent_agent_says_nothing_and_its_node_becomes_suspect(lively):
    agent = lively.fleet.agents[lively.nodes["n1"].pk]
    agent.is_silent = True
    session = submit(lively)
    lively.advance(30)
    lively.tick()
    assert (lively.node_state("n1"), state(session)) == ("suspect", "pending")

    agent.is_silent = False
    lively.tick()
    assert (lively.node_state("n1"), state(session)) == ("ready", "scheduled")


def test_a_start_that_was_cancelled_is_refused_when_it_comes_late():
    with world.World(RULES, habits=habits.Habits(start_s=None)).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("n1", FULL)
        session = submit(cluster)
        cluster.tick()
        ((agent, start),) = cluster.fleet.open_command(session, messages.StartCommand)
        cluster.advance(61)
        cluster.tick()
        session.refresh_from_db()
        assert (session.state, session.epoch) == ("scheduled", 2)
        agent.answer(start, clock.now())
        session.refresh_from_db()
        assert (session.state, session.epoch) == ("scheduled", 2)


def test_nothing_of_a_simulation_reaches_the_broker(lively, monkeypatch):
    sent = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **more: sent.append(name))

    submit(lively)
    lively.tick()
    lively.advance(5)

    assert sent == []


def test_the_same_story_has_the_same_events_twice():
    assert _story() == _story()


def _story() -> list[tuple[str, object]]:
    with transaction.atomic(), world.World(RULES, habits=habits.LIVELY).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("n1", FULL)
        cluster.obey()
        for rank in (1, 5, 9):
            submit(cluster, job_priority=rank)
            cluster.tick()
            cluster.advance(3)
        first = models.Event.objects.order_by("number").values_list("type", "at")
        found = list(first)
        transaction.set_rollback(True)
    return found
