"""A decision's record says of every node and of every candidate why, truly, on thousands of small clusters."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterator, Sequence
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core import decisions, entities, plain, preview, records, resources, snapshot, states
from tests import factories, strategies

R, V, S = decisions.PendReason, decisions.Verdict, states.SessionState
_FAST = settings(max_examples=200, deadline=None)
_SECOND = 1_000_000
SWITCH = st.sampled_from(tuple(entities.PreemptionState))


def _with_backoff(view: snapshot.Snapshot, seed: int) -> snapshot.Snapshot:
    """Close a node to some waiting sessions, or let it be closed no longer."""
    chance = random.Random(seed)
    moments = (factories.NOW - _SECOND, factories.NOW + _SECOND)
    sessions = tuple(
        dataclasses.replace(one, backoff={1: chance.choice(moments)}) if chance.random() < 0.3 else one
        for one in view.sessions
    )
    return dataclasses.replace(view, sessions=sessions)


# Nodes


def _note(session: entities.Session, node: entities.Node) -> str:
    if any(node.labels.get(label) not in accepted for label, accepted in session.labels.items()):
        return "labels"
    if node.state is not entities.NodeState.READY:
        return "not-ready"
    if any(node.capacity.get(kind) < amount for kind, amount in session.request):
        return "too-small"
    return "backoff" if session.backoff.get(node.id, 0) > factories.NOW else ""


def _free(view: snapshot.Snapshot, node: entities.Node) -> resources.ResourceVector:
    held = [a.slots for s in view.sessions for a in s.allocations if a.node_id == node.id]
    held += [one.drawn for one in view.reservations if one.node_id == node.id]
    return node.capacity.minus_clamped(sum(held, resources.EMPTY))


def _recorded(
    found: Sequence[decisions.Decision],
) -> Iterator[tuple[int, decisions.Pend | decisions.Preempt]]:
    for one in found:
        if isinstance(one, decisions.Preempt):
            yield one.preempting_jobid, one
        elif isinstance(one, decisions.Pend) and one.nodes:
            yield one.session_id, one


@_FAST
@given(st.integers(0, 2**62), SWITCH)
def test_every_node_says_why_the_session_is_not_on_it(seed, state):
    alone = strategies.without_resumes(
        strategies.random_snapshot(seed, pending=1, state=state, starvation_after_s=0)
    )
    view = _with_backoff(alone, seed)
    by_id = {one.id: one for one in view.sessions}

    for session_id, one in _recorded(factories.decide(view)):
        session = by_id[session_id]
        assert [v.node_id for v in one.nodes] == [n.id for n in sorted(view.nodes, key=lambda n: n.name)]
        for node, shown in zip(sorted(view.nodes, key=lambda n: n.name), one.nodes, strict=True):
            assert shown.note == _note(session, node)
            assert shown.free == _free(view, node)
            assert shown.short == session.request.minus_clamped(shown.free).minus_clamped(shown.releasing)


@_FAST
@given(strategies.snapshots(starvation_after_s=0), SWITCH)
def test_a_node_where_nothing_is_missing_is_explained_by_the_headline_alone(view, state):
    view = dataclasses.replace(view, policy=dataclasses.replace(view.policy, state=state))
    by_id = {one.id: one for one in view.sessions}

    for session_id, one in _recorded(factories.decide(view)):
        session = by_id[session_id]
        is_short = isinstance(one, decisions.Preempt) or one.reason in decisions.SHORT_OF_SLOTS
        if not is_short or session.node_count > 1 or session.state is not S.PENDING:
            continue
        for shown in one.nodes:
            is_missing = bool(shown.short) or shown.sessions_short > 0 or bool(shown.releasing)
            assert shown.note or is_missing


def _adds_up(stop: decisions.Preempt) -> bool:
    """Say whether what the victims free makes up for what is short where they are stopped."""
    shown = next(view for view in stop.nodes if view.node_id == stop.node_id)
    frees = sum((victim.frees for victim in stop.victims), resources.EMPTY)
    places = sum(victim.action is not decisions.Action.REQUEUE_SUSPENDED for victim in stop.victims)
    room = shown.free + shown.releasing + frees
    return frees.covers(shown.short) and places >= shown.sessions_short and room.covers(stop.slots)


def test_what_is_short_is_what_the_victims_free_also_beside_what_is_taken_over():
    taken = 0
    for seed in range(500):
        found = factories.decide(strategies.random_snapshot(seed, largest=12, starvation_after_s=0))
        for stop in factories.preemptions(found).values():
            assert _adds_up(stop), seed
            taken += stop.takes_over is not None and bool(stop.victims)

    assert taken > 2


# Candidates

Holds = Callable[[snapshot.Snapshot, entities.Session, entities.Session, entities.Axis], bool]


def _value(axis: entities.Axis, session: entities.Session) -> int:
    return session.job_priority if axis is entities.Axis.OWNER else session.priority


def _queue(view: snapshot.Snapshot, session: entities.Session) -> entities.Queue:
    return next(queue for queue in view.queues if queue.id == session.queue_id)


def _is_young(view: snapshot.Snapshot, session: entities.Session) -> bool:
    least, started = view.policy.min_runtime_s, session.started_at
    if session.state is not S.RUNNING or started is None:
        return False
    return view.now - started < least * _SECOND


#: Verdict -> what must be so of (snapshot, preemptor, candidate, axis).
TRUE_OF: dict[V, Holds] = {
    V.PRIVATE_OR_SYSTEM: lambda view, one, other, axis: other.is_private or other.is_system,
    V.NOT_RUNNING: lambda view, one, other, axis: other.state is not S.RUNNING,
    V.OTHER_OWNER: lambda view, one, other, axis: other.owner_id != one.owner_id,
    V.QUEUE_NOT_LISTED: lambda view, one, other, axis: (
        other.queue_id == one.queue_id or other.queue_id not in _queue(view, one).preemptible_queues
    ),
    V.QUEUE_NOT_PREEMPTIBLE: lambda view, one, other, axis: not _queue(view, other).preemptible,
    V.NOT_LOWER: lambda view, one, other, axis: _value(axis, other) >= _value(axis, one),
    V.RANKED_HIGHER_BY_OWNER: lambda view, one, other, axis: (
        other.owner_id == one.owner_id and other.job_priority > one.job_priority
    ),
    V.OPTED_OUT: lambda view, one, other, axis: not other.is_preemptible,
    V.MIN_RUNTIME: lambda view, one, other, axis: _is_young(view, other),
    V.PREEMPTED_TOO_OFTEN: lambda view, one, other, axis: (
        other.times_preempted >= (view.policy.max_preemptions_per_session or 0)
    ),
}
#: Verdicts of a session that the rules do not protect.
LEGAL = frozenset(
    {
        V.SELECTED,
        V.NOT_NEEDED,
        V.INSUFFICIENT,
        V.NODE_RULED_OUT,
        V.FREES_NOTHING_SHORT,
        V.LIMIT,
        V.POLICY_CHOSE_NOBODY,
    }
)
_AXES = {
    entities.PreemptionScope.OWNER: (entities.Axis.OWNER,),
    entities.PreemptionScope.QUEUE: (entities.Axis.QUEUE,),
    entities.PreemptionScope.OWNER_THEN_QUEUE: (entities.Axis.OWNER, entities.Axis.QUEUE),
}


def _axes(view: snapshot.Snapshot, one: decisions.Pend | decisions.Preempt) -> tuple[entities.Axis, ...]:
    return (one.axis,) if isinstance(one, decisions.Preempt) else _AXES[view.policy.scope]


def _is_legal(
    view: snapshot.Snapshot, one: entities.Session, other: entities.Session, axis: entities.Axis
) -> bool:
    against = set(TRUE_OF) - {V.NOT_RUNNING, V.PREEMPTED_TOO_OFTEN}
    against -= (
        {V.OTHER_OWNER} if axis is entities.Axis.QUEUE else {V.QUEUE_NOT_LISTED, V.QUEUE_NOT_PREEMPTIBLE}
    )
    if axis is entities.Axis.OWNER:
        against -= {V.RANKED_HIGHER_BY_OWNER}
    return not other.in_decision and not any(TRUE_OF[verdict](view, one, other, axis) for verdict in against)


@settings(max_examples=400, deadline=None)
@given(strategies.snapshots())
def test_every_candidate_has_one_verdict_and_it_is_true_of_it(view):
    live = sorted(s.id for s in view.sessions if s.state not in (S.PENDING, S.TERMINATED))
    by_id = {one.id: one for one in view.sessions}
    claimed: set[int] = set()

    for decision in factories.decide(view):
        if isinstance(decision, decisions.Preempt) or getattr(decision, "candidates", ()):
            _check(view, decision, by_id, (live, claimed))
        if isinstance(decision, decisions.Preempt):
            claimed |= set(decision.victim_jobids)


def _check(
    view: snapshot.Snapshot,
    decision: decisions.Pend | decisions.Preempt,
    by_id: dict[int, entities.Session],
    known: tuple[list[int], set[int]],
) -> None:
    live, claimed = known
    is_stop = isinstance(decision, decisions.Preempt)
    one = by_id[decision.preempting_jobid if isinstance(decision, decisions.Preempt) else decision.session_id]
    assert [c.session_id for c in decision.candidates] == live
    for candidate in decision.candidates:
        other, verdict, facts = by_id[candidate.session_id], candidate.verdict, candidate.facts
        axes = _axes(view, decision)
        assert (verdict is V.SELECTED) == (is_stop and other.id in decision.victim_jobids)
        assert candidate.node_ids == tuple(sorted({held.node_id for held in other.allocations}))
        if verdict is V.IN_ANOTHER_DECISION:
            assert other.in_decision or other.state is S.PREEMPTED or other.id in claimed
        elif verdict in LEGAL:
            assert any(_is_legal(view, one, other, axis) for axis in axes)
        elif verdict in TRUE_OF:
            assert any(TRUE_OF[verdict](view, one, other, axis) for axis in axes)
        if verdict is V.NOT_LOWER:
            assert (facts["own"], facts["theirs"]) in {(_value(a, other), _value(a, one)) for a in axes}
            assert facts["own"] >= facts["theirs"]
        if verdict is V.MIN_RUNTIME:
            assert facts["until"] > view.now


# Nothing is lost


@_FAST
@given(strategies.snapshots())
def test_p13_the_stored_snapshot_gives_every_record_again(view):
    kept = json.loads(json.dumps(snapshot.canonical(view)))

    assert factories.decide(plain.to_snapshot(kept)) == factories.decide(view)


@_FAST
@given(strategies.snapshots(pending=6))
def test_verdicts_that_a_round_had_no_space_for_are_found_by_running_it_again(view):
    whole = factories.decide(view)
    with mock.patch.object(records, "MOST_RECORDED", 0):
        cut, again = factories.decide(view), preview.collect(view, records_all=True)

    assert all(not one.candidates for one in cut if isinstance(one, decisions.Pend))
    assert again == whole
