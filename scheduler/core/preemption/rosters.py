"""
All sessions on nodes as columns: who may be stopped, and what each stop frees, for every preemptor of a round.

The verdicts are those of ``eligibility``, test for test, asked of all sessions at once; where suspended sessions per
node are limited they are asked one by one. Source: DESIGN 5.2; PERFORMANCE 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from scheduler.core import context, decisions, entities, states
from scheduler.core.preemption import eligibility, tables

Array = tables.Array
_VERDICT, _STATE = decisions.Verdict, states.SessionState
#: Tests that apply only where the policy has the rule.
_OFF: dict[decisions.Verdict, Callable[[entities.Policy], bool]] = {
    _VERDICT.MIN_RUNTIME: lambda policy: bool(policy.min_runtime_s),
    _VERDICT.PREEMPTED_TOO_OFTEN: lambda policy: policy.max_preemptions_per_session is not None,
    _VERDICT.LIMIT: lambda policy: policy.max_suspended_per_node is not None,
}
#: Tests that no plain session fails; see ``_is_odd``.
_OF_ODD = frozenset(
    {
        _VERDICT.IN_ANOTHER_DECISION,
        _VERDICT.PRIVATE_OR_SYSTEM,
        _VERDICT.NOT_RUNNING,
        _VERDICT.OPTED_OUT,
        _VERDICT.STOP_FAILED,
    }
)
#: What stands in a column of codes for a session that may be stopped.
LEGAL = 0


class Roster:
    """The sessions of ``ctx.running``, in its order, and what they hold on the group's nodes."""

    def __init__(self, ctx: context.Context) -> None:
        self.ctx, running = ctx, ctx.running
        self.ids = tables.integers(s.id for s in running)
        self.owner = tables.integers(s.owner_id for s in running)
        self.queue = tables.integers(s.queue_id for s in running)
        self.priority = tables.integers(s.priority for s in running)
        self.job_priority = tables.integers(s.job_priority for s in running)
        self.start = tables.integers(s.started_at or 0 for s in running)
        self.place_of = {session.id: place for place, session in enumerate(running)}
        self._odd = [place for place, session in enumerate(running) if _is_odd(session)]
        self._alike: dict[decisions.Verdict, Array] = {}
        self._hold()

    def _hold(self) -> None:
        """Tell what each stop frees on each node, node after node, by session id within one."""
        board = self.ctx.board()
        width = len(board.kinds)
        held: list[tuple[int, int, list[int]]] = []
        for place, session in enumerate(self.ctx.running):
            plan = self.ctx.stop_plan(session)
            for node_id, slots in plan.frees:
                if (node := board.place_of.get(node_id)) is not None:
                    row = [slots.get(kind) for kind in board.kinds]
                    row[0] = int(plan.frees_place)
                    held.append((node, place, row))
        held.sort(key=lambda one: one[0])
        self.node = np.array([node for node, _, _ in held], dtype=np.int64)
        self.session = np.array([place for _, place, _ in held], dtype=np.int64)
        self._first = np.searchsorted(self.node, np.arange(len(board.nodes) + 1))
        rows = np.array([row for _, _, row in held], dtype=board.free.dtype).reshape(len(held), width)
        self.frees = np.ascontiguousarray(rows.T)  #: (kinds of the board, held)
        self.is_shared = np.array([len(s.allocations) > 1 for s in self.ctx.running], dtype=bool)

    def rows_on(self, places: Array) -> Array:
        """Return the rows of what is held on some nodes, in order; ``places`` are sorted."""
        if len(places) * 8 > len(self._first):
            is_asked = np.zeros(len(self._first), dtype=bool)
            is_asked[places] = True
            return np.flatnonzero(is_asked[self.node])
        first, last = self._first[places], self._first[places + 1]
        ranges = [np.arange(start, end) for start, end in zip(first.tolist(), last.tolist(), strict=True)]
        return np.concatenate(ranges) if ranges else np.zeros(0, dtype=np.int64)

    def codes(self, question: eligibility.Question) -> Array:
        """
        Return for each session the first verdict against it, counted from 1 in the order of the axis' tests.

        Returns:
            ``LEGAL`` for a session that may be stopped; those that this round already stops are not left out.
        """
        key = ("codes", eligibility.kind_of(question))
        return self.ctx.all_round(key, lambda: self._codes(question))

    def _codes(self, question: eligibility.Question) -> Array:
        tests = eligibility.TESTS[question.axis]
        codes = np.zeros(len(self.ids), dtype=np.int8)
        if question.policy.max_suspended_per_node is not None:
            verdicts = [verdict for verdict, _ in tests]
            found = (eligibility.judge(question, session)[0] for session in self.ctx.running)
            return np.array([0 if one is None else 1 + verdicts.index(one) for one in found], dtype=np.int8)
        for place in range(len(tests), 0, -1):
            verdict, test = tests[place - 1]
            codes[self._against(question, verdict, test)] = place
        return codes

    def _against(self, q: eligibility.Question, verdict: decisions.Verdict, test: eligibility.Test) -> Array:
        one = q.preemptor
        match verdict:
            case _VERDICT.OTHER_OWNER:
                return np.asarray(self.owner != one.owner_id)
            case _VERDICT.NOT_LOWER:
                own = self.job_priority if q.axis is entities.Axis.OWNER else self.priority
                return np.asarray(own >= eligibility.value(q.axis, one))
            case _VERDICT.RANKED_HIGHER_BY_OWNER:
                return np.asarray((self.owner == one.owner_id) & (self.job_priority > one.job_priority))
            case _VERDICT.QUEUE_NOT_LISTED:
                listed = q.queue.preemptible_queues - {one.queue_id} if q.queue is not None else frozenset()
                return ~np.isin(self.queue, sorted(listed))
            case _VERDICT.WOULD_CLOSE_CYCLE:
                return self.among(q.above)
        if verdict not in self._alike:
            self._alike[verdict] = self._same_for_all(q, verdict, test)
        return self._alike[verdict]

    def _same_for_all(
        self, q: eligibility.Question, verdict: decisions.Verdict, test: eligibility.Test
    ) -> Array:
        """Ask what is true of a session whoever asks."""
        if verdict is _VERDICT.QUEUE_NOT_PREEMPTIBLE:
            return ~np.isin(self.queue, [i for i, queue in self.ctx.queue_by_id.items() if queue.preemptible])
        if verdict in _OFF and not _OFF[verdict](q.policy):
            return np.zeros(len(self.ids), dtype=bool)
        running = self.ctx.running
        if verdict not in _OF_ODD:
            return np.array([test(q, session) for session in running], dtype=bool)
        found = np.zeros(len(self.ids), dtype=bool)
        found[[place for place in self._odd if test(q, running[place])]] = True
        return found

    def among(self, session_ids: Iterable[int]) -> Array:
        """Say which sessions are among these."""
        found = np.zeros(len(self.ids), dtype=bool)
        found[[self.place_of[i] for i in session_ids if i in self.place_of]] = True
        return found


def _is_odd(session: entities.Session) -> bool:
    """Say whether there is anything about a session that most do not have: the tests of ``_OF_ODD`` ask of no other."""
    return (
        session.state is not _STATE.RUNNING
        or session.in_decision
        or session.is_private
        or session.type is entities.SessionType.SYSTEM
        or not session.is_preemptible
        or session.stop_failed_since_start
    )


def of(ctx: context.Context) -> Roster:
    """Return the roster of the round."""
    return ctx.all_round("roster", lambda: Roster(ctx))
