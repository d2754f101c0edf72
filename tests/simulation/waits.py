"""
How long those wait for whom room is kept: no longer than ``starvation_after`` and the wall time in front of them.

In front of the holder of a claim is whoever holds something, or has room kept, on its nodes when the claim is made;
later only those ahead of it in the line, those that the claim lets through, and those that came while it rested.
Source: DESIGN 4 (claims), the issue's "no claim holder and no session that stays first in line waits longer".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from scheduler.core import decisions, ordering, release, states
from tests.simulation import jobs, world

_REASON = decisions.PendReason
_LACKS = decisions.SHORT_OF_SLOTS | {_REASON.POLICY_FAILED, _REASON.HOLDS_CLAIM, _REASON.ROOM_CLAIMED}
_AWAITS = frozenset({_REASON.AWAITING_VICTIMS, _REASON.AWAITING_RELEASE})
#: What an answer of the fleet may take, and the round after it.
_ANSWER = 3 * jobs.SECOND


@dataclasses.dataclass
class Front:
    """Who may still be in front of the holder of a claim, and until when that excuses its wait."""

    nodes: frozenset[int]
    since: int
    until: int
    seen: set[int] = dataclasses.field(default_factory=set)


class Watch:
    """Looks at a world after each round."""

    def __init__(self, one: world.World) -> None:
        self.world = one
        self.first: tuple[int, int] | None = None  #: the first that lacks slots, and since when
        self.fronts: dict[int, Front] = {}
        self.longest = 0  #: the longest wait of a holder, from its claim on
        self.counted = 0  #: claims seen

    def look(self) -> None:
        """
        Compare what the last round said with what is promised.

        Raises:
            Fault: somebody waits longer.
        """
        self._first_gets_a_claim()
        waiting = [i for i in self.world.claims if self.world.jobs[i].session.state in ordering.WAITING]
        self.fronts = {holder: self.fronts[holder] for holder in waiting if holder in self.fronts}
        for holder in waiting:
            self._holder_is_next(holder)

    def _first_gets_a_claim(self) -> None:
        one = self.world
        lacking = (
            session_id
            for session_id, answer in one.answers.items()
            if isinstance(answer, decisions.Pend) and answer.reason in _LACKS and session_id in one.jobs
        )
        first = next(lacking, None)
        if first is None or self.first is None or self.first[0] != first:
            self.first = None if first is None else (first, one.now)
        elif (
            first not in one.claims and one.now - self.first[1] > one.policy.starvation_after_s * jobs.SECOND
        ):
            raise world.Fault(f"session {first} is first since {self.first[1]} and has no claim at {one.now}")

    def _holder_is_next(self, holder: int) -> None:
        one = self.world
        nodes = frozenset(one.claims[holder].node_ids)
        front = self.fronts.get(holder)
        if front is None or front.nodes != nodes:
            front = self.fronts[holder] = Front(nodes, one.now, one.now + _ANSWER)
            self.counted += 1
            self._add(front, holder, self._on(nodes))
        self._add(front, holder, self._let_past(holder, nodes))
        if any(release.is_stuck(one.jobs[i].session, one.now) for i in self._on(nodes)):
            front.until += (
                jobs.SECOND
            )  # a stop that is overdue holds its room, whatever it ran: the clock stands
        self.longest = max(self.longest, one.now - front.since)
        if one.now > front.until:
            raise world.Fault(
                f"session {holder} has held its claim on {sorted(nodes)} since {front.since}, "
                f"and what was in front of it was over at {front.until}; now it is {one.now}"
            )

    def _on(self, nodes: frozenset[int]) -> list[int]:
        """Return whoever holds something, or has room kept, on some of these nodes."""
        holding = [i for i, job in self.world.jobs.items() if _is_on(job, nodes)]
        return holding + [kept.holder for kept in self.world.kept.values() if kept.node_id in nodes]

    def _let_past(self, holder: int, nodes: frozenset[int]) -> Iterable[int]:
        """Return those that may come between the claim and its holder."""
        one = self.world
        answer = one.answers.get(holder)
        rests = not isinstance(answer, decisions.Pend) or answer.reason in _AWAITS
        line = list(one.answers)
        ahead = set(line[: line.index(holder)]) if holder in one.answers else set(line)
        starts = None if rests else answer.facts.get("until")
        for session_id in self._on(nodes):
            session = one.jobs[session_id].session
            is_short = starts is not None and session.wall_limit_s is not None
            ends_before = is_short and one.now + session.wall_limit_s * jobs.SECOND <= starts
            if rests or session_id in ahead or session.resume_slots or ends_before:
                yield session_id

    def _add(self, front: Front, holder: int, session_ids: Iterable[int]) -> None:
        for session_id in session_ids:
            if session_id != holder and session_id not in front.seen:
                front.seen.add(session_id)
                front.until = (
                    max(front.until, self.world.now) + self._takes(session_id) + self._stop() + _ANSWER
                )

    def _stop(self) -> int:
        """Return what the stop of a session may take that would have ended sooner by itself."""
        return max(self.world.policy.grace_s, self.world.policy.suspend_grace_s) * jobs.SECOND

    def _takes(self, session_id: int) -> int:
        """Return the most that is left of a session's life: its run, or its stop and what it waits for before."""
        one, job = self.world, self.world.jobs[session_id]
        answers = [at - one.now for at, _, of, token, _ in one.due if of == session_id and token == job.token]
        rest = max(answers, default=0)
        deadlines = [kept.deadline - one.now for kept in one.kept.values() if kept.holder == session_id]
        runs = 0 if job.session.state is states.SessionState.RUNNING else job.work
        return rest + runs + max(deadlines, default=0)


def _is_on(job: jobs.Job, nodes: frozenset[int]) -> bool:
    return any(held.node_id in nodes for held in job.session.allocations)
