"""What holds of every round, on thousands of small clusters."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core import decisions, entities, invariants, snapshot, states
from tests import factories, strategies
from tests.scheduler.core import brute_force

_FAST = settings(max_examples=200, deadline=None)
_ORDER = entities.PreemptionOrder


@_FAST
@given(strategies.snapshots())
def test_the_strategy_makes_consistent_snapshots(view):
    assert invariants.check_snapshot(view) == []


@_FAST
@given(strategies.snapshots())
def test_p01_p07_p13_no_round_breaks_an_invariant(view):
    assert invariants.check_decisions(view, factories.decide(view)) == []


@_FAST
@given(strategies.snapshots(scope=entities.PreemptionScope.OWNER))
def test_p07_no_foreign_victim_on_the_owner_axis(view):
    owner = {session.id: session.owner_id for session in view.sessions}

    stops = factories.preemptions(factories.decide(view)).values()

    assert all(owner[v] == owner[stop.preempting_jobid] for stop in stops for v in stop.victim_jobids)


@_FAST
@given(strategies.snapshots(state=entities.PreemptionState.OFF))
def test_p12_off_preempts_nobody(view):
    found = factories.decide(view)

    assert factories.preemptions(found) == {}
    assert all(d.wait is None for d in found if isinstance(d, decisions.Pend))


@_FAST
@given(strategies.snapshots(state=entities.PreemptionState.SHADOW))
def test_shadow_decides_as_if_off_and_adds_plans(view):
    off = dataclasses.replace(
        view, policy=dataclasses.replace(view.policy, state=entities.PreemptionState.OFF)
    )

    found = factories.decide(view)

    plans = [d for d in found if isinstance(d, decisions.Preempt)]
    assert factories.decide(off) == [d for d in found if d not in plans]
    assert all(plan.is_shadow for plan in plans)


@_FAST
@given(strategies.snapshots(), st.randoms(use_true_random=False))
def test_p13_shuffled_input_is_decided_alike(view, chance):
    shuffled = {
        name: tuple(chance.sample(getattr(view, name), len(getattr(view, name))))
        for name in ("nodes", "queues", "owners", "sessions", "reservations", "edges", "claims")
    }

    assert factories.decide(view) == factories.decide(dataclasses.replace(view, **shuffled))


@_FAST
@given(strategies.snapshots())
def test_every_session_on_a_node_gets_exactly_one_verdict(view):
    on_nodes = sorted(s.id for s in view.sessions if s.state not in ("pending", "terminated"))

    for stop in factories.preemptions(factories.decide(view)).values():
        assert on_nodes == sorted(candidate.session_id for candidate in stop.candidates)
        selected = {c.session_id for c in stop.candidates if c.verdict is decisions.Verdict.SELECTED}
        assert set(stop.victim_jobids) == selected


@_FAST
@given(strategies.alone())
def test_p11_removing_any_one_victim_leaves_too_little(view):
    for stop in factories.preemptions(factories.decide(view)).values():
        found = {(one.node.id, one.ids) for one in brute_force.of(view, stop).sets()}

        assert (stop.node_id, tuple(sorted(stop.victim_jobids))) in found


@_FAST
@given(strategies.alone(scope=entities.PreemptionScope.QUEUE))
def test_p11_the_queue_axis_takes_the_best_of_all_sets(view):
    for stop in factories.preemptions(factories.decide(view)).values():
        best = brute_force.of(view, stop).best()

        assert (best.node.id, best.ids) == (stop.node_id, tuple(sorted(stop.victim_jobids)))
        assert stop.is_fewest_proved


@_FAST
@given(
    st.sampled_from((_ORDER.FEWEST_SESSIONS, _ORDER.SMALLEST_RESOURCES)).flatmap(
        lambda order: strategies.alone(order=order, scope=entities.PreemptionScope.OWNER)
    )
)
def test_p11_the_owner_axis_takes_the_best_of_all_sets_where_its_order_compares_sets(view):
    for stop in factories.preemptions(factories.decide(view)).values():
        best = brute_force.of(view, stop).best()

        assert (best.node.id, best.ids) == (stop.node_id, tuple(sorted(stop.victim_jobids)))


@_FAST
@given(strategies.alone(scope=entities.PreemptionScope.OWNER))
def test_nobody_goes_where_a_session_of_lower_job_priority_would_do(view):
    rank = {session.id: session.job_priority for session in view.sessions}
    for stop in factories.preemptions(factories.decide(view)).values():
        sets = brute_force.of(view, stop).sets()
        ceiling = min(max(v.job_priority for v in one.victims) for one in sets)

        assert ceiling == max(rank[victim_id] for victim_id in stop.victim_jobids)


@_FAST
@given(strategies.alone())
def test_p11_no_session_waits_for_slots_when_a_set_would_do(view):
    for session_id, pend in factories.by_session(factories.decide(view)).items():
        if _is_short(pend) and _may_trigger(view, session_id):
            searches = [
                brute_force.Search(view, session_id, axis) for axis in brute_force.AXES[view.policy.scope]
            ]

            assert [search.sets() for search in searches if search.sets()] == []


def _is_short(pend: decisions.Dispatch | decisions.Pend) -> bool:
    return isinstance(pend, decisions.Pend) and pend.reason is decisions.PendReason.NO_RESOURCES


def _may_trigger(view: snapshot.Snapshot, session_id: int) -> bool:
    session = next(session for session in view.sessions if session.id == session_id)
    is_pending = session.state is states.SessionState.PENDING
    return is_pending and session.node_count == 1 and not session.is_private
