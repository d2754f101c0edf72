"""The frozen picture of a ``select`` case: a snapshot of the core, with the names of its sessions and nodes."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler import models
from scheduler.core import entities, resources, snapshot, states
from scheduler.scenarios import entries
from scheduler.selectors import snapshot as snapshots

Vector = resources.ResourceVector
S = states.SessionState
SECOND = 1_000_000
#: The moment of every picture, microseconds since the epoch; cases speak of seconds before it.
NOW = 1_700_000_000 * SECOND
_SUBMITTED_S_AGO = 86_400


class Picture:
    """One case as a snapshot."""

    def __init__(self, case: entries.Case) -> None:
        self.case = case
        self.nodes = {node.id: place for place, node in enumerate(case.nodes, 1)}
        self._queues = {queue.id: place for place, queue in enumerate(case.queues, 1)}
        self._sessions = [*case.running, *case.pending]
        self.sessions = {one.id: place for place, one in enumerate(self._sessions, 1)}
        owners = sorted({one.owner for one in self._sessions})
        self._owners = {owner: place for place, owner in enumerate(owners, 1)}
        self.policy = snapshots.policy_value(models.PolicyVersion(version=1, **case.config.rules))
        self._taken = _Taken(case)

    def snapshot(self) -> snapshot.Snapshot:
        """Return the picture as the core takes it."""
        return snapshot.Snapshot(
            group=self.case.id,
            now=NOW,
            policy=self.policy,
            is_starting=self.case.is_starting,
            nodes=tuple(self._node(node) for node in self.case.nodes),
            queues=tuple(self._queue(queue) for queue in self.case.queues),
            owners=tuple(self._owner(name) for name in self._owners),
            sessions=tuple(self._session(one) for one in self._sessions),
            reservations=tuple(self._reservation(*pair) for pair in enumerate(self.case.reservations, 1)),
            edges=tuple(
                entities.Edge(self.sessions[winner], self.sessions[loser])
                for winner, loser in self.case.edges
            ),
            claims=tuple(
                entities.Claim(self.sessions[name], tuple(sorted(self.nodes[node] for node in nodes)))
                for name, nodes in self.case.claims
            ),
            round_number=self.case.round_number,
        )

    def _reservation(self, number: int, kept: entries.ReservationEntry) -> entities.Reservation:
        drawn = self._allocation(kept.node, Vector(kept.drawn), kept.devices)
        return entities.Reservation(
            id=number,
            session_id=self.sessions[kept.session],
            node_id=drawn.node_id,
            slots=Vector(kept.slots),
            drawn=drawn.slots,
            victim_ids=tuple(sorted(self.sessions[name] for name in kept.waits_for)),
            deadline=_after(kept.deadline_s),
            indices=drawn.indices,
            is_wait=kept.is_wait,
            is_binding=kept.is_binding,
        )

    def _node(self, node: entries.NodeEntry) -> entities.Node:
        return entities.Node(
            id=self.nodes[node.id],
            name=node.id,
            capacity=Vector(node.cap),
            devices=_devices_of(node),
            max_sessions=node.max_sessions,
            labels=node.labels,
            state=entities.NodeState(node.state),
        )

    def _queue(self, queue: entries.QueueEntry) -> entities.Queue:
        mine = [one for one in self.case.running if one.queue == queue.id]
        usage = self._usage(
            mine, self.case.config.of_queue(queue), self.case.config.queue_used.get(queue.id, {})
        )
        return entities.Queue(
            id=self._queues[queue.id],
            name=queue.id,
            state=entities.QueueState(queue.state),
            preemptible=queue.preemptible,
            preemptible_queues=frozenset(self._queues[name] for name in queue.preemptible_queues),
            preempt_policy=queue.policy or None,
            preemption_mode=entities.PreemptionMode(queue.mode) if queue.mode else None,
            usage=usage,
            serves_group=queue.serves,
        )

    def _owner(self, name: str) -> entities.Owner:
        mine, config = [one for one in self.case.running if one.owner == name], self.case.config
        return entities.Owner(
            self._owners[name], self._usage(mine, config.of_owner(name), config.owner_used.get(name, {}))
        )

    def _usage(
        self, holders: Iterable[entries.SessionEntry], limits: entries.Limits, elsewhere: entries.Amounts
    ) -> entities.Usage:
        used: dict[str, int] = collections.defaultdict(int, elsewhere)
        count = used.pop(entries.SESSIONS, 0) // 1000
        for one in holders:
            count += one.state is not S.SUSPENDED and one.standing.is_counted
            for amounts in self._held(one).values():
                for kind, amount in amounts:
                    used[kind] += amount
        return entities.Usage(Vector(used), count, limits.slots, limits.sessions)

    def _held(self, one: entries.SessionEntry) -> dict[str, Vector]:
        """Return node -> what a session holds there now: a suspended one what its mode did not free."""
        held = {node: Vector(amounts) for node, amounts in one.alloc.items()}
        if one.state is not S.SUSPENDED:
            return held
        if one.standing.holds is not None:
            kept = {node: Vector(amounts) for node, amounts in one.standing.holds.items()}
        else:
            suspend = entities.PreemptionMode.SUSPEND
            kept = {node: all_ - self.policy.releases(suspend, all_) for node, all_ in held.items()}
        return {node: amounts for node, amounts in kept.items() if amounts}

    def _session(self, one: entries.SessionEntry) -> entities.Session:
        session_id = self.sessions[one.id]
        place = session_id if one.submitted is None else one.submitted
        return entities.Session(
            id=session_id,
            owner_id=self._owners[one.owner],
            queue_id=self._queues[one.queue],
            state=one.state,
            request=Vector(one.request),
            submitted_at=NOW - (_SUBMITTED_S_AGO - place) * SECOND,
            type=entities.SessionType(one.type),
            labels={label: frozenset(values) for label, values in one.requires_any.items()},
            wall_limit_s=one.walltime_s,
            times_preempted=one.times_preempted,
            grace_s=one.grace_s,
            attempt=one.run,
            is_withdrawing=one.standing.is_withdrawing,
            is_counted=one.standing.is_counted,
            stop_releases=None
            if one.standing.stop_releases is None
            else frozenset(one.standing.stop_releases),
            stop_failed_since_start=one.standing.stop_failed,
            backoff={self.nodes[node]: _after(left) for node, left in one.standing.backoff_s.items()},
            waiting_since=_or_none(one.standing.waiting_s_ago, -1),
            begin_at=_or_none(one.standing.begin_in_s, 1),
            dependency=entities.DependencyState(one.standing.dependency),
            **one.wishes,
            **self._running(one),
        )

    def _running(self, one: entries.SessionEntry) -> dict[str, Any]:
        if not one.alloc:
            return {}
        ago = entries.STARTED_S_AGO if one.started_s_ago is None else one.started_s_ago
        said = one.standing.devices
        full = tuple(
            self._allocation(node, Vector(amounts), said.get(node, {})) for node, amounts in one.alloc.items()
        )
        held = full
        if one.state is S.SUSPENDED:
            held = tuple(
                entities.Allocation(self.nodes[n], amounts, one.standing.holds_devices.get(n, {}))
                for n, amounts in self._held(one).items()
            )
        more: dict[str, Any] = {"allocations": held, "epoch": 1}
        if one.state is S.SUSPENDED or one.standing.is_resume:
            more["resume_slots"] = full
        if one.state is not S.SCHEDULED or one.started_s_ago is not None:
            more["started_at"] = _after(-ago)
        in_decision = one.standing.in_decision
        more["in_decision"] = one.state is S.PREEMPTED if in_decision is None else in_decision
        if one.state in states.BEING_STOPPED or (one.state is S.SCHEDULED and more["in_decision"]):
            deadline = _after(one.standing.stop_deadline_s)
            more |= {"stop_mode": self._stop_mode(one), "stop_deadline": deadline}
        return more

    def _stop_mode(self, one: entries.SessionEntry) -> entities.PreemptionMode | None:
        if one.standing.stop_mode:
            return entities.PreemptionMode(one.standing.stop_mode)
        return None if one.state is S.TERMINATING else self.policy.mode

    def _allocation(
        self, node: str, amounts: Vector, said: Mapping[str, tuple[int, ...]]
    ) -> entities.Allocation:
        indices = {k: self._taken.next(node, k, amounts.get(k)) for k in _indexed(amounts) if k not in said}
        return entities.Allocation(self.nodes[node], amounts, {**indices, **said})


class _Taken:
    """Who has which device: as the case says, and of the others the lowest that is left."""

    def __init__(self, case: entries.Case) -> None:
        self._by_kind: dict[tuple[str, str], set[int]] = collections.defaultdict(set)
        self._numbers = {node.id: _devices_of(node) for node in case.nodes}
        for one in case.running:
            for said in (one.standing.devices, one.standing.holds_devices):
                for node, devices in said.items():
                    self._take(node, devices)
        for kept in case.reservations:
            self._take(kept.node, kept.devices)

    def _take(self, node: str, devices: Mapping[str, tuple[int, ...]]) -> None:
        for kind, numbers in devices.items():
            self._by_kind[node, kind].update(numbers)

    def next(self, node: str, kind: str, count: int) -> tuple[int, ...]:
        """Return the lowest devices that nobody has; beyond those of the node where it is given too much."""
        numbers = self._numbers[node].get(kind, ())
        beyond = itertools.count(max(numbers, default=-1) + 1)
        taken = self._by_kind[node, kind]
        free = (number for number in itertools.chain(numbers, beyond) if number not in taken)
        found = tuple(itertools.islice(free, count))
        taken.update(found)
        return found


def _after(seconds: entries.Seconds) -> int:
    """Return the moment so many seconds after that of the picture, in microseconds."""
    return NOW + int(seconds * SECOND)


def _or_none(seconds: entries.Seconds | None, sign: int) -> int | None:
    return None if seconds is None else _after(sign * seconds)


def _devices_of(node: entries.NodeEntry) -> dict[str, tuple[int, ...]]:
    return {**{kind: tuple(range(node.cap[kind])) for kind in _indexed(node.cap)}, **node.devices}


def _indexed(amounts: Iterable[Any]) -> list[str]:
    return [kind for kind in dict(amounts) if kind == "cuda.device"]
