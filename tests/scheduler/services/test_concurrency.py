"""Real connections at the same time: capacity, one round per group, the switch, numbers without gaps, no deadlock."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import threading
import time

import pytest
from django.db import DatabaseError, connection, transaction

from scheduler import clock, errors, models
from scheduler.core import decisions, resources
from scheduler.selectors import consistency
from scheduler.services import actors, control, locks, nodes, policies, queues, reconcile, rounds, work
from tests.scheduler.services import conftest, crowd, staging

pytestmark = pytest.mark.django_db(transaction=True)
IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))
ROUNDS = 5_000 if IS_NIGHT else 200
TOGGLES = 2_000 if IS_NIGHT else 100
KILLS = 100 if IS_NIGHT else 4
EVENTS = 100_000 if IS_NIGHT else 1_000
HUNT_S = 120 if IS_NIGHT else 6
SEED = int(os.environ.get("XCE_SEED", "1"))


@pytest.fixture(autouse=True)
def _no_bells(monkeypatch):
    """Lose every bell: whatever they announce is found by looking."""
    monkeypatch.setattr(work.bells, "ring", lambda **what: None)


@pytest.fixture
def thinking(monkeypatch):
    """Return a setter of what stands in for the core: called with the snapshot and the callback."""
    think = rounds.core_rounds.run_round

    def set_(instead):
        monkeypatch.setattr(rounds.core_rounds, "run_round", lambda *args, **more: instead(think, *args))

    return set_


# P01: capacity


def test_p01_four_connections_running_rounds_on_one_node_never_over_allocate(make_cluster, record_property):
    cluster = make_cluster()
    for _ in range(8):
        cluster.submit(cluster.alice, cpu="2")
    done, choice = [], random.Random(SEED)
    agent_turn, pause = threading.Lock(), threading.Event()

    def work_on():
        while len(done) < ROUNDS:
            if rounds.run_group_round(cluster.group.pk) is None:
                pause.wait(choice.uniform(0, 0.02))
                continue
            done.append(1)
            held = sum(a.slots["cpu"] for a in models.Allocation.objects.all())
            assert held <= 4000
            if agent_turn.acquire(blocking=False):
                if not crowd.answer_one(cluster.agent, choice, luck=1):
                    crowd.end_one(cluster.agent, choice)
                    cluster.submit(cluster.alice, cpu="2")
                agent_turn.release()

    crowd.together(*[work_on] * 4)

    record_property("tries", len(done))
    crowd.settle([cluster.agent], choice)
    assert models.Session.objects.filter(state="terminated").count() >= ROUNDS // 20


@pytest.mark.parametrize("has_row_lock", [True, False])
def test_p01_rounds_that_all_saw_the_node_empty_fill_it_once(
    make_cluster, thinking, monkeypatch, has_row_lock
):
    cluster = make_cluster()
    monkeypatch.setattr(locks, "try_group", lambda group_id: True)
    if not has_row_lock:
        monkeypatch.setattr(locks, "_touch", lambda queryset: None)
    sessions = [cluster.submit(cluster.alice, cpu="3") for _ in range(4)]
    everybody, turn = threading.Barrier(4), itertools.count()

    def dispatch_one(think, snapshot, decide):
        session = sessions[next(turn)]
        request = resources.ResourceVector({"cpu": 3000})
        everybody.wait(crowd.DEADLINE_S)
        decide(decisions.Dispatch(session.pk, (decisions.NodeGrant(cluster.node.pk, request, {}),)))

    thinking(dispatch_one)
    summaries = crowd.together(*[lambda: rounds.run_group_round(cluster.group.pk)] * 4)

    assert sorted((s.dispatched, s.dropped) for s in summaries) == [(0, 1), (0, 1), (0, 1), (1, 0)]
    assert cluster.slot() == (3000, 0)
    assert models.AgentCommand.objects.count() == 1


# P12: off means off


def test_p12_no_stop_is_ordered_by_a_commit_later_than_the_switch(make_cluster, record_property):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    cluster.contest()
    choice, is_over = random.Random(SEED), threading.Event()
    admin = actors.of_user(cluster.admin)

    def toggle():
        for version in range(1, TOGGLES + 1):
            policies.change_policy(
                admin,
                cluster.group,
                changes={"preemption_state": "off" if version % 2 else "on"},
                reason="to and fro",
                expected_version=version,
            )
            if version % 10 == 0:
                made = _decisions()
                crowd.wait_for(lambda made=made: _decisions() > made, "a decision is made")
            threading.Event().wait(choice.uniform(0, 0.03))
        is_over.set()

    def go_round():
        while not is_over.is_set():
            rounds.run_group_round(cluster.group.pk)
            for session in models.Session.objects.filter(commands__kind="withdraw", state="preempted"):
                with contextlib.suppress(AssertionError):
                    cluster.agent.withdraws(session)

    crowd.together(toggle, go_round)

    record_property("tries", TOGGLES)
    assert _preempted_while_off() == []
    assert _decisions() >= TOGGLES // 10


def _decisions():
    return models.Event.objects.filter(type="decision.preempt").count()


def _preempted_while_off():
    """Walk the events in the order of their commits; return the decisions made while the switch was off."""
    state, found = "on", []
    for event in models.Event.objects.order_by("number"):
        if event.type == "group.policy_changed":
            state = event.data["after"]["preemption_state"]
        elif event.type == "decision.preempt" and state != "on":
            found.append(event.number)
    return found


# P15: one round per group


def test_p15_of_many_rounds_asked_for_one_group_one_runs_at_a_time(make_cluster, thinking):
    cluster = make_cluster()
    cluster.submit(cluster.alice, cpu="400")  # for whom nothing can be done, so that every round thinks
    inside, most, numbers = itertools.count(1), [], []
    active = set()

    def watch(think, snapshot, decide):
        me = next(inside)
        active.add(me)
        most.append(len(active))
        numbers.append(snapshot.round_number)
        think(snapshot, decide)
        active.discard(me)

    thinking(watch)
    crowd.together(*[lambda: [rounds.run_group_round(cluster.group.pk) for _ in range(10)]] * 8)

    assert set(most) == {1}
    assert numbers == sorted(set(numbers))
    assert models.GroupRounds.objects.get().last_number == len(numbers)


def test_p15_while_one_round_thinks_another_leaves_at_once(make_cluster, thinking):
    cluster = make_cluster()
    cluster.submit(cluster.alice, cpu="400")
    begun, go_on = threading.Event(), threading.Event()

    def think_long(think, snapshot, decide):
        begun.set()
        assert go_on.wait(crowd.DEADLINE_S)

    def second():
        assert begun.wait(crowd.DEADLINE_S)
        answer = rounds.run_group_round(cluster.group.pk)
        go_on.set()
        return answer

    thinking(think_long)
    first, other = crowd.together(lambda: rounds.run_group_round(cluster.group.pk), second)

    assert first is not None
    assert other is None


@pytest.mark.parametrize("turn", range(KILLS))
def test_p15_a_round_whose_connection_dies_leaves_no_effect(make_cluster, thinking, turn, record_property):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    before = staging.picture()
    backend, dead = [], threading.Event()

    def think_then_die(think, snapshot, decide):
        think(snapshot, decide)
        backend.append(_backend())
        assert dead.wait(crowd.DEADLINE_S)

    def kill():
        crowd.wait_for(lambda: bool(backend), "the round has thought")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", backend)
        dead.set()

    def run():
        with pytest.raises(DatabaseError):
            rounds.run_group_round(cluster.group.pk)

    thinking(think_then_die)
    crowd.together(run, kill)
    record_property("faults", 1)

    assert staging.picture() == before
    thinking(lambda think, *args: think(*args))
    cluster.round()
    assert conftest.state_of(session) == "scheduled"


def _backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


# Lost updates, events


def test_two_writers_of_one_session_lose_no_update(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    alice = actors.of_user(cluster.alice)

    def rank():
        for value in range(20, 40):
            control.change_session(alice, session, job_priority=value)

    def hold():
        for _ in range(10):
            control.hold_session(alice, session)
            control.release_session(alice, session)

    crowd.together(rank, hold)

    session.refresh_from_db()
    assert (session.job_priority, session.is_held, session.state_version) == (39, False, 40)
    assert models.Event.objects.filter(session=session).count() == 41


def test_events_of_eight_writers_have_no_gaps_and_readers_miss_none(db):
    read, is_over = [], threading.Event()

    def write():
        for number in range(EVENTS // 8):
            with contextlib.suppress(ZeroDivisionError), work.begin(actors.SYSTEM) as unit:
                unit.tell("a.test")
                if number % 50 == 49:
                    raise ZeroDivisionError

    def read_on():
        while not is_over.is_set():
            _read(read)

    def write_all():
        crowd.together(*[write] * 8)
        is_over.set()

    crowd.together(write_all, read_on)
    _read(read)

    assert read == list(range(1, len(read) + 1))
    assert len(read) == models.EventCounter.objects.get().last == 8 * (EVENTS // 8 - EVENTS // 8 // 50)


def _read(read):
    newer = models.Event.objects.filter(number__gt=read[-1] if read else 0)
    read.extend(newer.order_by("number").values_list("number", flat=True))


# Deadlocks


def test_p03_a_crowd_of_all_writers_meets_no_deadlock_and_leaves_the_ledgers_right(make_cluster):
    cluster = make_cluster(**staging.RULES, max_suspend_time=1, requeue_suspended=True)
    agents = [cluster.agent, cluster.join(cpu=4000)]
    begun = time.monotonic()
    turns = {act.__name__: _Turns(act, cluster, agents) for act in _ACTS}

    def keep_on(turn, seed):
        choice, pause = random.Random(seed), threading.Event()
        while not _hunted_enough(begun):
            turn.take(choice)
            pause.wait(choice.uniform(0, turn.pause_s))

    crowd.together(
        *[lambda t=turn, s=SEED + i: keep_on(t, s) for i, turn in enumerate(turns.values())],
        lambda: keep_on(turns["_submit"], SEED + 100),
        lambda: keep_on(turns["_round"], SEED + 101),
    )

    assert {name: turn.count > 0 for name, turn in turns.items()} == dict.fromkeys(turns, True)
    crowd.settle(agents, random.Random(SEED))
    assert consistency.findings() == []
    assert models.Decision.objects.filter(kind="preempt").exists()


def _hunted_enough(begun):
    """Say whether the time is up and somebody was stopped for somebody; much later, whatever happened."""
    spent = time.monotonic() - begun
    has_decided = models.Decision.objects.filter(kind="preempt").exists()
    return (spent > HUNT_S and has_decided) or spent > HUNT_S + crowd.DEADLINE_S


class _Turns:
    """Does one thing again and again; what is refused is no fault, an error of the database is."""

    def __init__(self, act, cluster, agents):
        self._act, self._cluster, self._agents = act, cluster, agents
        self.count = 0
        self.pause_s = 0 if act in (_first_agent, _second_agent) else 0.5 if act in _RARE else 0.1

    def take(self, choice):
        with contextlib.suppress(errors.Refusal, errors.Staleness):
            self._act(self._cluster, self._agents, choice)
            self.count += 1


def _submit(cluster, agents, choice):
    if models.Session.objects.exclude(state="terminated").count() < 25:
        cluster.submit(
            choice.choice((cluster.alice, cluster.bob)),
            cpu=choice.choice("124"),
            queue=choice.choice(("background", "normal", "urgent")),
            job_priority=choice.randrange(30),
            priority=choice.randrange(100),
            node_count=choice.choice((1, 1, 1, 2)),
        )


def _any_session(choice):
    rows = list(models.Session.objects.exclude(state="terminated").select_related("owner", "group", "queue"))
    if not rows:
        raise errors.Refusal("nothing to do")
    row = choice.choice(rows)
    return actors.of_user(row.owner), row


def _control(cluster, agents, choice):
    actor, session = _any_session(choice)
    choice.choice(
        (
            control.cancel_session,
            control.hold_session,
            *[control.release_session] * 4,
            control.suspend_session,
            control.requeue_session,
        )
    )(actor, session)


def _change(cluster, agents, choice):
    actor, session = _any_session(choice)
    control.change_session(actor, session, job_priority=choice.randrange(30))


def _round(cluster, agents, choice):
    rounds.run_group_round(cluster.group.pk)


def _first_agent(cluster, agents, choice):
    _speak(agents[0], choice)


def _second_agent(cluster, agents, choice):
    _speak(agents[1], choice)


def _speak(agent, choice):
    if choice.random() < 0.2:
        crowd.end_one(agent, choice)
    elif not crowd.answer_one(agent, choice):
        agent.send(staging.messages.Heartbeat())


def _toggle(cluster, agents, choice):
    current = models.ResourceGroup.objects.get(pk=cluster.group.pk).policy
    changes = {
        "preemption_state": choice.choice(("on", "on", "on", "off", "shadow")),
        "preemption_mode": choice.choice(("suspend", "reschedule", "terminate")),
    }
    policies.change_policy(
        actors.SYSTEM, cluster.group, changes=changes, reason="hunt", expected_version=current.version
    )


def _queue(cluster, agents, choice):
    wanted = {"preemptible": choice.random() < 0.8}
    with contextlib.suppress(errors.Refusal):  # it is like this already
        queues.change_queue(actors.SYSTEM, cluster.queues["background"], changes=wanted, reason="hunt")


def _drain(cluster, agents, choice):
    node = choice.choice(agents).node
    for state in ("draining", "ready"):
        nodes.set_node_state(actors.SYSTEM, node, state=state, reason="hunt")


def _reconcile(cluster, agents, choice):
    kept = models.Reservation.objects.order_by("pk").first()
    if kept is not None and choice.random() < 0.2:
        models.Reservation.objects.filter(pk=kept.pk).update(deadline=clock.now())
    for rule in (
        reconcile.expire_reservations,
        reconcile.end_reservations_of_closed_nodes,
        reconcile.flag_stuck_stops,
        reconcile.requeue_long_suspended,
    ):
        rule()


_ACTS = (
    _submit,
    _control,
    _change,
    _round,
    _first_agent,
    _second_agent,
    _toggle,
    _queue,
    _drain,
    _reconcile,
)
#: What moves the ground of every decision: at full speed nothing would ever be decided.
_RARE = (_toggle, _queue, _drain, _control, _change)


def test_the_checker_finds_a_planted_over_count(make_cluster):
    cluster = make_cluster()
    with transaction.atomic():
        models.NodeSlot.objects.filter(node=cluster.node, kind="cpu").update(allocated=1)

        found = consistency.findings()
        models.NodeSlot.objects.filter(node=cluster.node, kind="cpu").update(allocated=0)

    assert found == ["n1 cpu: allocated 1, sessions hold 0"]
