"""
Whom one round may stop for one session, by the words of DESIGN 5.1 to 5.3: slow, plain, and on its own.

Every set of candidates of every node is looked at. Nothing of the core's machinery is used, neither its ledger nor
its guards nor its policies: amounts are added up from what the snapshot's sessions hold. Meant for snapshots in which
one session alone can be moved, and those who hold claims are ahead of it.
"""

from __future__ import annotations

import dataclasses
import fractions
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from scheduler.core import decisions, entities, snapshot, states
from tests.scheduler.core import plain_cluster

_S, _MODE, _ORDER = states.SessionState, entities.PreemptionMode, entities.PreemptionOrder
_SECOND = 1_000_000
PLACE = plain_cluster.PLACE
AXES = {
    entities.PreemptionScope.OWNER: (entities.Axis.OWNER,),
    entities.PreemptionScope.QUEUE: (entities.Axis.QUEUE,),
    entities.PreemptionScope.OWNER_THEN_QUEUE: (entities.Axis.OWNER, entities.Axis.QUEUE),
}
Victims = tuple[entities.Session, ...]


@dataclasses.dataclass(frozen=True)
class Found:
    """A set of victims on one node."""

    node: entities.Node
    victims: Victims

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the victims' ids, sorted."""
        return tuple(sorted(victim.id for victim in self.victims))


class Search(plain_cluster.Cluster):
    """All sets of victims for one session on one axis."""

    def __init__(self, view: snapshot.Snapshot, session_id: int, axis: entities.Axis) -> None:
        super().__init__(view)
        self.session, self.axis = self.sessions[session_id], axis
        self.claims = tuple(claim for claim in view.claims if claim.session_id != session_id)
        self.acceptable = [node for node in view.nodes if self._is_acceptable(node)]
        self.considered = [n for n in self.acceptable if self.session.backoff.get(n.id, 0) <= view.now]
        self.suspended = {node.id: self._suspended(node) for node in view.nodes}
        self.above = _above(view.edges, session_id)
        self.legal = tuple(s for s in sorted(view.sessions, key=lambda s: s.id) if self.is_legal(s))
        self.shorts = {node.id: self._short(node) for node in view.nodes}
        self.limits = self._limits()

    def _is_acceptable(self, node: entities.Node) -> bool:
        """Ready, with the labels, and large enough."""
        has_labels = all(node.labels.get(k) in accepted for k, accepted in self.session.labels.items())
        is_ready = node.state is entities.NodeState.READY
        return is_ready and has_labels and node.capacity.covers(self.session.request)

    # Who

    def is_legal(self, v: entities.Session) -> bool:
        """Say whether the guards of DESIGN 5.2, 5.4 and 5.7 let a session be a victim."""
        allowed = {_S.RUNNING}
        allowed |= {_S.SCHEDULED} if self.rules.cancel_unconfirmed_dispatch else set()
        allowed |= {_S.SUSPENDED} if self.rules.requeue_suspended else set()
        most = self.rules.max_preemptions_per_session
        return (
            v.state in allowed
            and not v.in_decision
            and v.is_preemptible
            and not v.is_private
            and not v.is_system
            and (self._is_lower_own(v) if self.axis is entities.Axis.OWNER else self._is_lower_queued(v))
            and self._has_run_enough(v)
            and (most is None or v.times_preempted < most)
            and not (v.stop_failed_since_start and self._is_suspend(v))
            and v.id not in self.above
            and self.may_be_suspended((v,))
        )

    def _is_suspend(self, v: entities.Session) -> bool:
        return self.mode_of(v) is _MODE.SUSPEND

    def _is_lower_own(self, v: entities.Session) -> bool:
        return v.owner_id == self.session.owner_id and v.job_priority < self.session.job_priority

    def _is_lower_queued(self, v: entities.Session) -> bool:
        own, theirs = self.queues[self.session.queue_id], self.queues[v.queue_id]
        is_listed = theirs.id in own.preemptible_queues and theirs.id != own.id
        is_higher_own = v.owner_id == self.session.owner_id and v.job_priority > self.session.job_priority
        return is_listed and theirs.preemptible and v.priority < self.session.priority and not is_higher_own

    def _has_run_enough(self, v: entities.Session) -> bool:
        least = self.rules.min_runtime_s * _SECOND
        if not least or v.state is not _S.RUNNING:
            return True
        return v.started_at is not None and self.view.now - v.started_at >= least

    def _suspended(self, node: entities.Node) -> int:
        """Count the sessions that are, or are about to be, suspended on a node."""
        return sum(
            any(a.node_id == node.id for a in (*s.allocations, *s.resume_slots))
            and (
                s.state is _S.SUSPENDED
                or (self.is_leaving(s) and s.stop_mode is _MODE.SUSPEND)
                or (s.state is _S.SCHEDULED and bool(s.resume_slots) and not s.in_decision)
            )
            for s in self.view.sessions
        )

    def may_be_suspended(self, victims: Victims) -> bool:
        """Say whether no node would hold more suspended sessions than allowed."""
        most = self.rules.max_suspended_per_node
        if most is None:
            return True
        added: dict[int, int] = {}
        for v in victims:
            if v.state is _S.RUNNING and self._is_suspend(v):
                for held in v.allocations:
                    added[held.node_id] = added.get(held.node_id, 0) + 1
        return all(self.suspended.get(node_id, 0) + count <= most for node_id, count in added.items())

    # How much

    def _wanted(self, node: entities.Node) -> dict[str, int]:
        return dict(self.session.request) | ({PLACE: 1} if node.max_sessions is not None else {})

    def has_room(self, node: entities.Node) -> bool:
        """Say whether the session fits on what is free now."""
        return all(self.free(node, kind) >= amount for kind, amount in self._wanted(node).items())

    def _short(self, node: entities.Node) -> dict[str, int]:
        """Return, by kind, what is missing on a node once all that is leaving has left."""
        missing = {k: n - self.free(node, k) - self.releasing(node, k) for k, n in self._wanted(node).items()}
        return {kind: amount for kind, amount in missing.items() if amount > 0}

    def _limits(self) -> list[tuple[Callable[[entities.Session], bool], dict[str, int]]]:
        """Return, for owner and queue, whose stop gives back, and what the limit lacks for the session by kind."""
        one, view = self.session, self.view
        owner = next(owner for owner in view.owners if owner.id == one.owner_id)
        found: list[tuple[Callable[[entities.Session], bool], dict[str, int]]] = []
        for account, belongs in (
            (owner, lambda s: s.owner_id == one.owner_id),
            (self.queues[one.queue_id], lambda s: s.queue_id == one.queue_id),
        ):
            left = self.left(account.usage, [s for s in view.sessions if belongs(s)])
            wanted = {**dict(one.request), PLACE: 1}
            found.append(
                (belongs, {k: wanted[k] - have for k, have in left.items() if wanted.get(k, 0) > have})
            )
        return found

    def is_within_limits(self, victims: Victims = ()) -> bool:
        """Say whether the limits of owner and queue hold once the victims have left and the session runs."""
        return all(
            sum(self.given_back(v, kind) for v in victims if belongs(v)) >= amount
            for belongs, lacks in self.limits
            for kind, amount in lacks.items()
        )

    def suffices(self, node: entities.Node, victims: Victims) -> bool:
        """Say whether the session fits on the node, and within the limits, once these have stopped."""
        return self.is_within_limits(victims) and all(
            sum(self.frees(v).get(node.id, {}).get(kind, 0) for v in victims) >= amount
            for kind, amount in self.shorts[node.id].items()
        )

    def candidates(self, node: entities.Node) -> Victims:
        """Return the legal victims that free something short on a node."""
        short = self.shorts[node.id]
        return tuple(v for v in self.legal if any(self.frees(v).get(node.id, {}).get(k) for k in short))

    # Which

    def sets(self) -> list[Found]:
        """Return every sufficient set in which nobody could be left out, over all nodes."""
        if self.axis is entities.Axis.QUEUE and not self.queues[self.session.queue_id].preemptible_queues:
            return []
        return [
            Found(node, victims)
            for node in self.considered
            for own in [self.candidates(node)]
            for size in range(1, len(own) + 1)
            for victims in itertools.combinations(own, size)
            if self.is_allowed(node, victims)
        ]

    def is_allowed(self, node: entities.Node, victims: Victims) -> bool:
        """Say whether a set suffices, leaves nobody out that could be left out, and suspends no more than allowed."""
        if not self.suffices(node, victims) or not self.may_be_suspended(victims):
            return False
        return not any(self.suffices(node, tuple(v for v in victims if v is not one)) for one in victims)

    def best(self) -> Found | None:
        """Return the set that the axis' policy is to take, or None without one."""
        found = self.sets()
        if not found:
            return None
        if self.axis is entities.Axis.QUEUE:
            return min(found, key=self._fewest_key)
        ceiling = min(max(v.job_priority for v in one.victims) for one in found)
        under = [one for one in found if max(v.job_priority for v in one.victims) == ceiling]
        if self.rules.order is _ORDER.SMALLEST_RESOURCES:
            return min(under, key=lambda one: (self._share(one.victims), *self._own_key(one)))
        in_order = [one for one in under if one.ids == self._taken_in_order(one.node, ceiling)]
        is_fewest = self.rules.order is _ORDER.FEWEST_SESSIONS
        return min(under if is_fewest else in_order or under, key=self._own_key)

    def _taken_in_order(self, node: entities.Node, ceiling: int) -> tuple[int, ...]:
        """Take by job_priority, start time, id until it suffices; give back what is not needed, last taken first."""
        line = [v for v in self.candidates(node) if v.job_priority <= ceiling]
        taken: list[entities.Session] = []
        for v in sorted(line, key=lambda v: (v.job_priority, self._start(v), v.id)):
            if not self.suffices(node, tuple(taken)):
                taken.append(v)
        for v in reversed(taken):
            if self.suffices(node, tuple(one for one in taken if one is not v)):
                taken = [one for one in taken if one is not v]
        return tuple(sorted(v.id for v in taken))

    def _fewest_key(self, one: Found) -> tuple[Any, ...]:
        total = sum(v.priority for v in one.victims)
        share = self._share(one.victims, elsewhere_than=one.node.id)
        return len(one.victims), total, share, self._starts(one), one.node.name, one.ids

    def _own_key(self, one: Found) -> tuple[Any, ...]:
        total = sum(v.job_priority for v in one.victims)
        return len(one.victims), total, self._starts(one), self._rank(one.node), one.node.name, one.ids

    def _start(self, v: entities.Session) -> int:
        return (v.started_at or 0) * (-1 if self.rules.order is _ORDER.NEWEST else 1)

    def _starts(self, one: Found) -> list[int]:
        return sorted(self._start(v) for v in one.victims)

    def _rank(self, node: entities.Node) -> int:
        """Return a node's place in the placement's order of those where something is short and somebody may stop."""
        held = {a.node_id for v in self.legal for a in v.allocations}
        names = sorted((n.name, n.id) for n in self.considered if self.shorts[n.id] and n.id in held)
        if self.rules.placement is entities.Placement.ROUND_ROBIN:
            first = self.view.round_number % len(names)
            line = names[first:] + names[:first]
        else:
            sign = 1 if self.rules.placement is entities.Placement.CONCENTRATED else -1
            line = sorted(names, key=lambda name: sign * self._free_share(self.nodes[name[1]]))
        return line.index((node.name, node.id))

    def _free_share(self, node: entities.Node) -> int:
        return sum((self.free(node, kind) << 32) // amount for kind, amount in node.capacity)

    def _share(self, victims: Victims, *, elsewhere_than: int | None = None) -> fractions.Fraction:
        parts = (
            fractions.Fraction(amount, self.nodes[node_id].capacity.get(kind))
            for v in victims
            for node_id, amounts in self.frees(v).items()
            for kind, amount in amounts.items()
            if node_id != elsewhere_than and kind != PLACE
        )
        return sum(parts, fractions.Fraction(0))


def _above(edges: Iterable[entities.Edge], session_id: int) -> set[int]:
    """Return all that took something from a session, over any number of edges."""
    found = {session_id}
    while True:
        more = {edge.winner_id for edge in edges if edge.loser_id in found} - found
        if not more:
            return found
        found |= more


def of(view: snapshot.Snapshot, stop: decisions.Preempt) -> Search:
    """Return the search for the preemptor of a decision, on its axis."""
    return Search(view, stop.preempting_jobid, stop.axis)


@dataclasses.dataclass(frozen=True)
class Expected:
    """What is to become of one session: it starts or waits for another reason, waits for room, or others stop."""

    is_wait: bool = False
    axis: entities.Axis | None = None
    stop: Found | None = None


def expected(view: snapshot.Snapshot, session_id: int) -> Expected:
    """Return what a round with preemption on is to do for the one session that it can move."""
    searches = [Search(view, session_id, axis) for axis in AXES[view.policy.scope]]
    first, one = searches[0], searches[0].session
    if one.node_count > 1 or one.is_private or one.is_system or any(map(first.has_room, first.acceptable)):
        return Expected()
    if any(first.suffices(node, ()) for node in first.considered):
        return Expected(is_wait=True)
    for search in searches:
        best = search.best()
        if best is not None:
            return Expected(axis=search.axis, stop=best)
    return Expected()
