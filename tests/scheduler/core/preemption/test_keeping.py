"""What is kept from one preemptor to the next changes no answer, and spares most of the looking."""

from __future__ import annotations

import dataclasses
import random

import pytest

from scheduler.core import decisions, entities, resources, rounds, states
from scheduler.core.preemption import keeping, minimal_set, offers, planning
from tests import factories
from tests.factories import slots

QUEUES = (
    factories.a_queue(1, name="urgent", preemptible_queues=frozenset({2})),
    factories.a_queue(2, name="background", preemptible=True),
)


def _crowd(seed, *, nodes=10, running=6, urgent=16, order=entities.PreemptionOrder.OLDEST, largest=9):
    """Return full nodes, and urgent sessions of two kinds, a few of which lost something to somebody before."""
    chance = random.Random(seed)
    low, machines = [], []
    for node_id in range(1, nodes + 1):
        sizes = [
            slots(cpu=chance.randint(1, largest), mem=chance.randint(1, largest)) for _ in range(running)
        ]
        total = sizes[0]
        for one in sizes[1:]:
            total = total + one
        machines.append(factories.a_node(node_id, capacity=total))
        low += [
            factories.a_running(
                100 * node_id + i,
                size,
                on=(node_id,),
                owner_id=2,
                queue_id=2,
                priority=chance.choice((0, 0, 5)),
                started_at=chance.randint(1, 4),
            )
            for i, size in enumerate(sizes)
        ]
    kinds = [slots(cpu=chance.randint(3, 2 * largest), mem=chance.randint(3, 2 * largest)) for _ in range(2)]
    wanted = [factories.a_session(9000 + i, chance.choice(kinds), priority=90) for i in range(urgent)]
    edges = tuple(entities.Edge(chance.choice(low).id, one.id) for one in wanted if chance.random() < 0.2)
    policy = dataclasses.replace(factories.ON, order=order)
    return dataclasses.replace(
        factories.a_snapshot([*low, *wanted], nodes=machines, queues=QUEUES, policy=policy), edges=edges
    )


def _mixed(seed):
    """Return a crowd with claims, sessions short enough to pass them, stops under way for lower ones, and limits."""
    chance, view = random.Random(seed), _crowd(seed, nodes=6, urgent=12)
    rules = {"starvation_after_s": chance.choice((0, 1, 1, 1))}
    if chance.random() < 0.3:
        rules["state"] = entities.PreemptionState.SHADOW
    sessions = [_varied(chance, session) for session in view.sessions]
    claims = (entities.Claim(9000, (chance.randint(1, 6),)),) if rules["starvation_after_s"] else ()
    owners = (entities.Owner(1, entities.Usage(max_slots={"cpu": 40})),) if chance.random() < 0.3 else ()
    return dataclasses.replace(
        view,
        policy=dataclasses.replace(view.policy, **rules),
        sessions=tuple(sessions),
        claims=claims,
        reservations=tuple(_kept_for_lower(chance, sessions)),
        owners=owners or view.owners,
    )


def _varied(chance, session):
    if session.queue_id == 1:
        queue_id, priority = chance.choice(((1, 90), (1, 90), (2, 40)))
        return dataclasses.replace(
            session,
            queue_id=queue_id,
            priority=priority,
            wall_limit_s=chance.choice((None, None, 60)),
            waiting_since=factories.NOW - 4000 * factories.SECOND,
        )
    if chance.random() < 0.15:
        return dataclasses.replace(
            session,
            state=states.SessionState.PREEMPTED,
            in_decision=True,
            stop_mode=entities.PreemptionMode.TERMINATE,
            stop_deadline=factories.NOW + 20 * factories.SECOND,
        )
    return dataclasses.replace(session, wall_limit_s=4000)


def _kept_for_lower(chance, sessions):
    """Reserve what is being stopped on some nodes for sessions of the lowest priority that wait."""
    leaving = {}
    for session in sessions:
        if session.state is states.SessionState.PREEMPTED:
            leaving.setdefault(session.allocations[0].node_id, []).append(session)
    holders = [one for one in sessions if one.state is states.SessionState.PENDING and one.queue_id == 2]
    until = factories.NOW + 60 * factories.SECOND
    for (node_id, stopped), holder in zip(leaving.items(), holders, strict=False):
        ids = tuple(one.id for one in stopped)
        yield entities.Reservation(
            holder.id, holder.id, node_id, holder.request, resources.EMPTY, ids, until, is_binding=False
        )


def _decided(view):
    found = []
    rounds.run_round(view, found.append)
    return [_without_proof(one) for one in found]


def _without_proof(decision):
    """Leave out how an answer was proved: bounds may say the same with other numbers."""
    if isinstance(decision, decisions.Preempt):
        return dataclasses.replace(decision, proof=None, search_steps=0)
    return decision


@pytest.mark.parametrize("order", [entities.PreemptionOrder.OLDEST, entities.PreemptionOrder.NEWEST])
@pytest.mark.parametrize("first", [0, 1, 16])
@pytest.mark.parametrize("seed", range(9))
def test_what_is_kept_changes_no_answer(monkeypatch, seed, first, order):
    monkeypatch.setattr(keeping, "_FIRST", first)
    view = _crowd(seed, order=order, largest=(2, 9, 1 << 61)[seed % 3])
    with_it = _decided(view)

    monkeypatch.setattr(offers.Offer, "_kept", lambda offer: None)

    assert any(isinstance(one, decisions.Preempt) for one in with_it)
    assert _decided(view) == with_it


def test_what_is_kept_changes_no_answer_beside_claims_takeovers_shadow_and_limits(monkeypatch):
    monkeypatch.setattr(keeping, "_FIRST", 1)
    views = [_mixed(seed) for seed in range(16)]
    with_it = [_decided(view) for view in views]
    stops = [one for found in with_it for one in found if isinstance(one, decisions.Preempt)]

    monkeypatch.setattr(offers.Offer, "_kept", lambda offer: None)

    assert any(stop.takes_over for stop in stops)
    assert any(stop.is_shadow for stop in stops)
    assert [seed for seed, view in enumerate(views) if _decided(view) != with_it[seed]] == []


def test_who_passes_a_claim_is_not_told_what_was_kept_behind_it(monkeypatch):
    monkeypatch.setattr(keeping, "_FIRST", 0)
    ones = [
        factories.a_running(i, slots(cpu=1), on=(2,), owner_id=2, queue_id=2, priority=0)
        for i in range(20, 28)
    ]
    on_first = [
        factories.a_running(i, slots(cpu=cpu), owner_id=2, queue_id=2, priority=0, wall_limit_s=9000)
        for i, cpu in ((1, 3), (2, 2))
    ]
    long_ago = factories.NOW - 4000 * factories.SECOND
    holder = factories.a_session(90, slots(cpu=6), queue_id=2, priority=99, waiting_since=long_ago)
    behind = factories.a_session(91, slots(cpu=4), priority=95)
    passing = factories.a_session(92, slots(cpu=4), priority=95, wall_limit_s=60)
    view = factories.a_snapshot(
        [*ones, *on_first, holder, behind, passing],
        nodes=[factories.a_node(i, capacity=slots(cpu=8)) for i in (1, 2)],
        queues=QUEUES,
        policy=dataclasses.replace(factories.ON, starvation_after_s=1),
        claims=(entities.Claim(90, (1,)),),
    )

    stops = factories.preemptions(factories.decide(view))

    assert [stops[i].n_victims for i in (91, 92)] == [4, 1]


def test_the_second_of_a_kind_looks_at_few_nodes(monkeypatch):
    looked = []
    part = offers.Offer.part
    monkeypatch.setattr(
        offers.Offer, "part", lambda offer, places: looked.append(len(places)) or part(offer, places)
    )
    view = _crowd(3, nodes=200, urgent=12)
    kinds = len({session.request for session in view.sessions if session.queue_id == 1})

    found = _decided(view)

    assert sum(isinstance(one, decisions.Preempt) for one in found) == 12
    assert next(size for size in looked if size > 1) > 190
    assert sum(size > 100 for size in looked) <= kinds + 2


@pytest.mark.parametrize("steps", [0, 4000])
def test_at_the_budget_the_rest_is_spent_on_all_nodes(monkeypatch, steps):
    monkeypatch.setattr(planning, "STEPS", steps)
    stops = [one for one in factories.decide(_crowd(5)) if isinstance(one, decisions.Preempt)]

    assert stops
    assert all(stop.search_steps <= steps for stop in stops)
    assert all(stop.proof.is_best for stop in stops) == (steps > 0)


def _key(table, answer):
    """Return what sets are compared by, of an answer."""
    rows = [row for row, one in enumerate(table.columns.ids.tolist()) if one in answer.victim_ids]
    line = table.heads.line[table.heads.ids == answer.node_id]
    starts = tuple(sorted(table.columns.start[rows].tolist()))
    return len(rows), int(table.columns.value[rows].sum()), starts, int(line[0])


def test_at_the_budget_the_best_set_that_was_found_is_kept(monkeypatch):
    found, among_all = [], keeping._among_all

    def noted(source, problem, tried):
        answer = among_all(source, problem, tried)
        found.extend(
            (_key(source.whole(), answer), hunt.key_of(hunt.best)) for hunt in tried if hunt.best is not None
        )
        return answer

    monkeypatch.setattr(keeping, "_among_all", noted)
    for steps in (50, 200, 500, 1000, 2000):
        monkeypatch.setattr(planning, "STEPS", steps)
        for seed in range(2):
            factories.decide(_crowd(seed, nodes=30, running=8))

    assert found
    assert all(mine <= best for mine, best in found)


def test_a_spent_budget_is_told_and_nothing_is_learned(monkeypatch):
    monkeypatch.setattr(planning, "STEPS", 0)

    def spent(self):
        raise minimal_set.BudgetSpent("no step is left")

    learned = []
    monkeypatch.setattr(keeping.hunts.Hunt, "run", spent)
    monkeypatch.setattr(keeping.Kept, "learn", lambda kept, hunt: learned.append(hunt))

    stops = [one for one in factories.decide(_crowd(5)) if isinstance(one, decisions.Preempt)]

    assert stops
    assert learned == []
    assert not any(stop.is_fewest_proved for stop in stops)


def test_proofs_speak_of_all_nodes_also_where_few_were_looked_at():
    stops = [one for one in factories.decide(_crowd(7, nodes=40)) if isinstance(one, decisions.Preempt)]

    assert len(stops) > 5
    for stop in stops:
        assert stop.proof is not None
        assert (stop.proof.fewest, stop.proof.is_best) == (stop.n_victims, True)
        assert stop.proof.nodes > 30
        assert stop.proof.bound <= stop.n_victims


def test_resources_of_any_size_can_be_kept():
    stops = [
        one for one in factories.decide(_crowd(2, largest=1 << 70)) if isinstance(one, decisions.Preempt)
    ]

    assert len(stops) > 5
    assert all(stop.proof.is_best for stop in stops)
