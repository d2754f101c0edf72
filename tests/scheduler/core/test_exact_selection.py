"""What a round does for one session, against every set of every node by the words of the rules, over random crowds."""

from __future__ import annotations

import collections
import dataclasses
import os

import pytest

from scheduler.core import decisions, entities, invariants, states
from scheduler.core.preemption import policy, shipped
from tests import crowds, factories
from tests.scheduler.core import brute_force

EXAMPLES = 20_000 if os.environ.get("XCE_NIGHT") else 600
PARTS = 8
V, S = decisions.Verdict, states.SessionState
#: What is said of a session that may be stopped.
LEGAL = {
    V.SELECTED,
    V.NOT_NEEDED,
    V.NODE_RULED_OUT,
    V.FREES_NOTHING_SHORT,
    V.INSUFFICIENT,
    V.POLICY_CHOSE_NOBODY,
}
#: What is said only of sessions of which nobody was chosen.
NOT_CHOSEN = {V.INSUFFICIENT, V.LIMIT, V.POLICY_CHOSE_NOBODY, V.POLICY_GAVE_NO_ANSWER}


def _nobody(problem):
    return None


def _fails(problem):
    raise policy.PolicyFailed("did not answer within 1 s")


def _decided(view):
    found = factories.decide(view)
    return factories.preemptions(found).get(crowds.MOVER), factories.by_session(found)[crowds.MOVER]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(PARTS))
def test_p07_p11_every_decision_is_the_best_that_the_rules_allow(part):
    for seed in range(part, EXAMPLES, PARTS):
        view = crowds.crowd(seed)
        wanted, (stop, answer) = brute_force.expected(view, crowds.MOVER), _decided(view)

        assert invariants.check_snapshot(view) == [], seed
        assert wanted.is_wait == bool(isinstance(answer, decisions.Pend) and answer.wait), seed
        assert (stop is None) == (wanted.stop is None), seed
        if stop is not None:
            _check_choice(seed, view, stop, wanted)
        elif isinstance(answer, decisions.Pend):
            _check_what_is_told(seed, view, answer)


def _check_choice(seed, view, stop, wanted):
    search = brute_force.of(view, stop)
    node, victims = search.nodes[stop.node_id], [search.sessions[i] for i in stop.victim_jobids]

    assert stop.axis is wanted.axis, seed
    assert (stop.n_victims, _sum(stop.axis, victims)) == (
        len(wanted.stop.victims),
        _sum(stop.axis, wanted.stop.victims),
    ), seed
    assert (stop.node_id, tuple(sorted(stop.victim_jobids))) == (wanted.stop.node.id, wanted.stop.ids), seed
    aims_at_fewest = (
        stop.axis is entities.Axis.QUEUE or view.policy.order is entities.PreemptionOrder.FEWEST_SESSIONS
    )
    is_proved = aims_at_fewest or stop.n_victims == 1
    assert stop.is_fewest_proved == (is_proved or stop.proof is not None), seed
    assert _told_legal(stop) == {session.id for session in search.legal}, seed
    assert search.suffices(node, tuple(victims)), seed
    for one in victims:
        assert not search.suffices(node, tuple(v for v in victims if v is not one)), seed


def _sum(axis, victims):
    return sum(v.job_priority if axis is entities.Axis.OWNER else v.priority for v in victims)


def _told_legal(answer, also=frozenset()):
    return {one.session_id for one in answer.candidates if one.verdict in LEGAL | also}


def _check_what_is_told(seed, view, answer):
    """
    A session that stays waiting is told of the same legal ones, where one axis is asked.

    A limit may be its owner's or its queue's, which makes nobody illegal, or that of suspended sessions, which does.
    """
    axes = brute_force.AXES[view.policy.scope]
    if len(axes) == 1 and answer.candidates:
        legal = {session.id for session in brute_force.Search(view, crowds.MOVER, axes[0]).legal}
        many, few = _told_legal(answer, {V.LIMIT}), _told_legal(answer)
        assert many == legal or (view.policy.max_suspended_per_node and few <= legal <= many), seed
    if answer.candidates:
        _check_why_not(seed, view, answer, V.POLICY_CHOSE_NOBODY)


def _check_why_not(seed, view, answer, chosen_by_nobody):
    """Where nobody was chosen, each legal session is told how far all together would get where it runs."""
    searches = [brute_force.Search(view, crowds.MOVER, axis) for axis in brute_force.AXES[view.policy.scope]]
    for one in answer.candidates:
        found = [_outlook(search, one.session_id) for search in searches]
        best = max((_ORDER.index(verdict) for verdict in found if verdict), default=None)
        if best is None:
            assert one.verdict not in NOT_CHOSEN - {V.LIMIT}, seed
            continue
        expected = {chosen_by_nobody} if _ORDER[best] is V.POLICY_CHOSE_NOBODY else {_ORDER[best]}
        assert one.verdict in (expected | {V.LIMIT} if view.policy.max_suspended_per_node else expected), seed


_ORDER = (V.NODE_RULED_OUT, V.FREES_NOTHING_SHORT, V.INSUFFICIENT, V.LIMIT, V.POLICY_CHOSE_NOBODY)


def _outlook(search, session_id):
    """Return what is true of a legal session by the words of the rules, None of others."""
    if session_id not in {session.id for session in search.legal}:
        return None
    considered = {node.id for node in search.considered}
    is_there = any(held.node_id in considered for held in search.sessions[session_id].allocations)
    found = V.FREES_NOTHING_SHORT if is_there else V.NODE_RULED_OUT
    for node in search.considered:
        together = search.candidates(node)
        if session_id in {session.id for session in together}:
            found = max(found, _of_node(search, node, together), key=_ORDER.index)
    return found


def _of_node(search, node, together):
    freed = {
        kind: sum(search.frees(v)[node.id].get(kind, 0) for v in together) for kind in search.shorts[node.id]
    }
    if any(freed[kind] < amount for kind, amount in search.shorts[node.id].items()):
        return V.INSUFFICIENT
    return V.POLICY_CHOSE_NOBODY if search.is_within_limits(together) else V.LIMIT


@pytest.mark.parametrize(
    ("policy_", "verdict"), [(_nobody, V.POLICY_CHOSE_NOBODY), (_fails, V.POLICY_GAVE_NO_ANSWER)]
)
def test_where_a_policy_chooses_nobody_each_is_told_what_is_true_of_its_node(policy_, verdict):
    said = collections.Counter()
    for seed in range(600):
        view = crowds.crowd(seed)
        scope = entities.PreemptionScope.QUEUE
        view = dataclasses.replace(view, policy=dataclasses.replace(view.policy, scope=scope))
        found = factories.decide(view, policies={shipped.DEFAULT: policy_})
        answer = factories.by_session(found)[crowds.MOVER]
        if isinstance(answer, decisions.Pend) and answer.candidates:
            _check_why_not(seed, view, answer, verdict)
            said.update(one.verdict for one in answer.candidates)

    assert min(said[one] for one in (verdict, *_ORDER[:-1])) >= 5


def test_the_crowds_have_all_that_the_rules_speak_of():
    seen = collections.Counter()
    for view, stop in _stops(1_500):
        search = brute_force.of(view, stop)
        victims = [search.sessions[i] for i in stop.victim_jobids]
        order = view.policy.order.value if stop.axis is entities.Axis.OWNER else ""
        seen.update(
            {f"{stop.policy_name} {order}", f"{min(3, len(victims))} victims", f"{len(view.nodes)} nodes"}
        )
        seen.update(f"stops one that is {victim.state}" for victim in victims)
        seen.update(f"says {candidate.verdict}" for candidate in stop.candidates)
        seen["a victim on several nodes"] += any(len(victim.allocations) > 1 for victim in victims)
        seen["a victim with devices"] += any(a.indices for victim in victims for a in victim.allocations)
        seen["a session place is short"] += brute_force.PLACE in search.shorts[stop.node_id]
        seen["a limit is short"] += any(lacks for _, lacks in search.limits)
        seen["labels are asked"] += bool(search.session.labels)
        seen["others being stopped count"] += bool(stop.releasing_ids)
        seen["a reservation of another"] += bool(view.reservations)
        seen["a claim on its node"] += any(stop.node_id in claim.node_ids for claim in view.claims)
        seen["a claim elsewhere"] += any(stop.node_id not in claim.node_ids for claim in view.claims)
        seen["six candidates or more on a node"] += any(len(search.candidates(n)) > 5 for n in view.nodes)

    orders = [f"owner_job_priority {order.value}" for order in entities.PreemptionOrder]
    assert min(seen[one] for one in ("lowest_priority_first ", *orders)) >= 20
    assert min(seen[f"{count} victims"] for count in (1, 2, 3)) >= 20
    assert min(seen[f"{count} nodes"] for count in (1, 2, 3, 4)) >= 20
    assert min(seen[f"stops one that is {one}"] for one in (S.RUNNING, S.SCHEDULED, S.SUSPENDED)) >= 3
    said = {verdict.value for verdict in V} - NOT_CHOSEN
    assert {verdict for verdict in said if not seen[f"says {verdict}"]} == set()
    assert [
        name for name in seen if name.startswith(("a ", "labels", "others", "six")) and seen[name] < 3
    ] == []


def _stops(examples):
    for seed in range(examples):
        view = crowds.crowd(seed)
        stop, _ = _decided(view)
        if stop is not None:
            yield view, stop
