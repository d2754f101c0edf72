"""
A stored snapshot as a case of kind ``select``, with neutral names: nobody's name, command or label is in it.

Names keep the order of what they stand for, since the last rules of every choice compare names and ids.
"""

from __future__ import annotations

import collections
import decimal
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.core import entities, release, resources, snapshot, states
from scheduler.scenarios import fields, neutral_names

S = states.SessionState
_SECOND = 1_000_000
_NAMED_SCALE = 1000
Scales = Mapping[str, int]


class Writer:
    """Writes one snapshot."""

    def __init__(
        self,
        view: snapshot.Snapshot,
        scales: Scales,
        *,
        shipped_alone: bool = False,
        tells_shadow: bool = False,
    ) -> None:
        """
        Args:
            view: what to write.
            scales: kind -> smallest units in one unit; others count in thousandths.
            shipped_alone: write the default for preemption policies that are not shipped, which nobody else has.
            tells_shadow: leave shadow as it is, and let what it would have done be the answer; else write it as on.
        """
        self._shipped_alone, self._tells_shadow = shipped_alone, tells_shadow
        self.view = view
        self.names = neutral_names.Names(view)
        self._scales = scales
        self._places = {
            one.id: place
            for place, one in enumerate(sorted(view.sessions, key=lambda one: (one.submitted_at, one.id)), 1)
        }

    def case(self, case_id: str) -> dict[str, Any]:
        """Return the case, without what it expects."""
        nodes = sorted(self.view.nodes, key=lambda node: node.id)
        sessions = sorted(self.view.sessions, key=lambda one: one.id)
        found = {
            "id": case_id,
            "kind": "select",
            "title": "Written from a stored decision, names replaced",
            "nodes": [self._node(node) for node in nodes],
            "queues": [self._queue(queue) for queue in sorted(self.view.queues, key=lambda queue: queue.id)],
            "running": [self._session(one) for one in sessions if one.state is not S.PENDING],
            "pending": [self._session(one) for one in sessions if one.state is S.PENDING],
            "reservations": [self._kept(kept) for kept in self.view.reservations],
            "edges": [[self._of(edge.winner_id), self._of(edge.loser_id)] for edge in self.view.edges],
            "claims": [self._claim(claim) for claim in self.view.claims],
            "round_number": self.view.round_number,
            "starting": self.view.is_starting,
            "tells_shadow": self._tells_shadow,
            "config": self._config(),
        }
        return neutral_names.said(found, starting=True)

    def _of(self, session_id: int) -> str:
        return self.names.sessions[session_id]

    def _amounts(self, amounts: resources.ResourceVector | Mapping[str, int]) -> dict[str, Any]:
        pairs = amounts if isinstance(amounts, resources.ResourceVector) else sorted(amounts.items())
        return {self.names.kind(kind): self._amount(kind, amount) for kind, amount in pairs}

    def _devices(self, devices: Mapping[str, tuple[int, ...]]) -> dict[str, list[int]]:
        return {self.names.kind(kind): list(numbers) for kind, numbers in sorted(devices.items()) if numbers}

    def _devices_of(self, held: Iterable[entities.Allocation]) -> dict[str, Any]:
        found = {self.names.nodes[each.node_id]: self._devices(each.indices) for each in held}
        return {node: devices for node, devices in found.items() if devices}

    def _amount(self, kind: str, amount: int) -> Any:
        """Return an amount that the reader makes the same of, up to one factor for each kind."""
        scale = fields.kind(self.names.kind(kind)).scale
        if kind in self._scales and scale == _NAMED_SCALE and _NAMED_SCALE % self._scales[kind] == 0:
            scale = self._scales[kind]
        return _number(amount, scale)

    def _node(self, node: entities.Node) -> dict[str, Any]:
        labels = {self.names.word(label): self.names.word(value) for label, value in node.labels.items()}
        found = {
            "id": self.names.nodes[node.id],
            "cap": self._amounts(node.capacity),
            "labels": labels,
            "devices": self._devices(node.devices),
            "max_sessions": node.max_sessions,
            "state": str(node.state),
        }
        return neutral_names.said(found, state="ready")

    def _queue(self, queue: entities.Queue) -> dict[str, Any]:
        limits = self._limits(queue.usage)
        most = limits.pop("sessions", None)
        found = {
            "id": self.names.queues[queue.id],
            "preemptible": queue.preemptible,
            "preemptible_queues": [self.names.queues[each] for each in sorted(queue.preemptible_queues)],
            "mode": str(queue.preemption_mode or ""),
            "preempt_policy": self._policy(queue.preempt_policy or ""),
            "state": str(queue.state),
            "serves": queue.serves_group,
            "max": limits,
            "max_sessions": most,
        }
        return neutral_names.said(found, state="open", preemptible=False, serves=True)

    def _policy(self, name: str) -> str:
        own = self.names.policy(name)
        return "" if own != name and self._shipped_alone else own

    def _held_by(self, belongs: Any) -> tuple[dict[str, int], int]:
        held: dict[str, int] = collections.Counter()
        count = 0
        for one in self.view.sessions:
            if not belongs(one) or one.state is S.PENDING:
                continue
            count += release.holds_place(one)
            for allocation in one.allocations:
                for kind, amount in allocation.slots:
                    held[kind] += amount
        return held, count

    def _limits(self, usage: entities.Usage) -> dict[str, Any]:
        found = self._amounts(usage.max_slots)
        return found if usage.max_sessions is None else found | {"sessions": usage.max_sessions}

    def _elsewhere(self, usage: entities.Usage, held: Mapping[str, int], count: int) -> dict[str, Any]:
        """Return what counts towards limits and is not held in this group."""
        used = {kind: amount - held.get(kind, 0) for kind, amount in usage.used}
        found = self._amounts({kind: amount for kind, amount in used.items() if amount > 0})
        return found if usage.sessions <= count else found | {"sessions": usage.sessions - count}

    def _session(self, one: entities.Session) -> dict[str, Any]:
        found = {
            "id": self.names.sessions[one.id],
            "owner": self.names.owners[one.owner_id],
            "queue": self.names.queues[one.queue_id],
            "priority": one.priority,
            "job_priority": one.job_priority,
            "preemptible": one.is_preemptible,
            "submitted": self._places[one.id],
            "type": str(one.type),
            "private": one.is_private,
            "held": one.is_held,
            "times_preempted": one.times_preempted,
            "grace_s": one.grace_s,
            "walltime_s": one.wall_limit_s,
            "stop_failed": one.stop_failed_since_start,
            "backoff_s": {self.names.nodes[node]: self._left(at) for node, at in one.backoff.items()},
            "waiting_s_ago": None if one.waiting_since is None else -self._left(one.waiting_since),
            "begin_in_s": None if one.begin_at is None else self._left(one.begin_at),
            "dependency": str(one.dependency),
            "requires_any": self._labels(one),
            **(self._waits(one) if one.state is S.PENDING else self._runs(one)),
        }
        plain = {
            "type": "batch",
            "dependency": "met",
            "preemptible": True,
            "state": "RUNNING",
            "counted": True,
        }
        return neutral_names.said(found, **plain, times_preempted=0, node_count=1, stop_releases=None)

    def _labels(self, one: entities.Session) -> dict[str, list[str]]:
        return {
            self.names.word(label): sorted(self.names.word(value) for value in values)
            for label, values in one.labels.items()
        }

    def _waits(self, one: entities.Session) -> dict[str, Any]:
        return {"request": self._amounts(one.request), "node_count": one.node_count}

    def _runs(self, one: entities.Session) -> dict[str, Any]:
        full = one.resume_slots or one.allocations
        is_stopping = release.is_being_stopped(one)
        deadline = one.stop_deadline if is_stopping else None
        return {
            "state": one.state.name,
            "alloc": {self.names.nodes[a.node_id]: self._amounts(a.slots) for a in full},
            "devices": self._devices_of(full),
            "holds": self._holds(one) if one.state is S.SUSPENDED else None,
            "holds_devices": self._devices_of(one.allocations) if one.state is S.SUSPENDED else None,
            "started_s_ago": None if one.started_at is None else -self._left(one.started_at),
            "stop_mode": str(one.stop_mode or "") if is_stopping else "",
            "stop_releases": None
            if one.stop_releases is None
            else sorted(map(self.names.kind, one.stop_releases)),
            "counted": one.is_counted,
            "stop_deadline_s": None if deadline is None else self._left(deadline),
            "in_decision": one.in_decision if one.in_decision != (one.state is S.PREEMPTED) else None,
            "withdrawing": one.is_withdrawing,
            "resume": bool(one.resume_slots) and one.state is S.SCHEDULED,
        }

    def _holds(self, one: entities.Session) -> dict[str, Any]:
        return {self.names.nodes[a.node_id]: self._amounts(a.slots) for a in one.allocations} or {
            self.names.nodes[one.resume_slots[0].node_id]: {}
        }

    def _kept(self, kept: entities.Reservation) -> dict[str, Any]:
        found = {
            "for": self.names.sessions[kept.session_id],
            "node": self.names.nodes[kept.node_id],
            "slots": self._amounts(kept.slots),
            "drawn": self._amounts(kept.drawn),
            "waits_for": [
                self.names.sessions[each] for each in kept.victim_ids if each in self.names.sessions
            ],
            "deadline_s": self._left(kept.deadline),
            "wait": kept.is_wait,
            "binding": kept.is_binding,
            "devices": self._devices(kept.indices),
        }
        return neutral_names.said(found)

    def _claim(self, claim: entities.Claim) -> dict[str, Any]:
        nodes = [self.names.nodes[node] for node in claim.node_ids]
        return {"for": self.names.sessions[claim.session_id], "nodes": nodes}

    def _left(self, moment: int) -> Any:
        """Return the seconds from the round to a moment, exactly; below zero when it has passed."""
        return _number(moment - self.view.now, _SECOND)

    def _config(self) -> dict[str, Any]:
        policy = self.view.policy
        is_played_on = policy.state is entities.PreemptionState.SHADOW and not self._tells_shadow
        state = entities.PreemptionState.ON if is_played_on else policy.state
        found = {
            "state": str(state),
            "mode": str(policy.mode),
            "order": str(policy.order),
            "preemption_scope": str(policy.scope),
            "placement": str(policy.placement),
            "min_runtime_s": policy.min_runtime_s,
            "grace_s": policy.grace_s,
            "suspend_grace_s": policy.suspend_grace_s,
            "inflight_timeout_s": policy.in_flight_timeout_s,
            "max_preemptions": policy.max_preemptions_per_session,
            "cancel_unconfirmed_dispatch": policy.cancel_unconfirmed_dispatch,
            "requeue_suspended": policy.requeue_suspended,
            "max_suspend_time_s": policy.max_suspend_time_s,
            "max_suspended_per_node": policy.max_suspended_per_node,
            "starvation_after_s": policy.starvation_after_s,
            "owner_max": self._owner_limits(),
            **self._used_elsewhere(),
        }
        releases = (
            None if policy.suspend_releases is None else sorted(map(self.names.kind, policy.suspend_releases))
        )
        said = {key: value for key, value in found.items() if value is not None and value != {}}
        return said if releases is None else said | {"suspend_releases": releases}

    def _owner_limits(self) -> dict[str, Any]:
        found = {self.names.owners[owner.id]: self._limits(owner.usage) for owner in self.view.owners}
        return {name: limits for name, limits in found.items() if limits}

    def _used_elsewhere(self) -> dict[str, Any]:
        """Return what those who have limits use in other groups, which they count as well."""
        parts = (
            ("owner_used", self.names.owners, self.view.owners, "owner_id"),
            ("queue_used", self.names.queues, self.view.queues, "queue_id"),
        )
        found: dict[str, Any] = {}
        for key, names, rows, column in parts:
            for row in (one for one in rows if self._limits(one.usage)):
                held, count = self._held_by(lambda one, column=column, pk=row.id: getattr(one, column) == pk)
                if used := self._elsewhere(row.usage, held, count):
                    found.setdefault(key, {})[names[row.id]] = used
        return found


def _number(amount: int, scale: int) -> Any:
    """Return ``amount / scale`` as a whole number, or as exact decimal text."""
    if amount % scale == 0:
        return amount // scale
    exact = decimal.Context(prec=60).divide(decimal.Decimal(amount), decimal.Decimal(scale))
    return decimal.Decimal(f"{exact:f}")
