"""What is kept from one preemptor to the next changes no answer, and spares most of the looking."""

from __future__ import annotations

import dataclasses
import random

import pytest

from scheduler.core import decisions, entities, rounds
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
