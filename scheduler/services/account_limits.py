"""
The limits of owners and queues, compared once more under their locks.

Rounds of different groups think at the same time, each from its own snapshot; what one of them has used or reserved
meanwhile counts here, and the next snapshot sees it too (DESIGN section 4).
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import Manager

from scheduler import errors, models
from scheduler.core import decisions
from scheduler.core import limits as core_limits
from scheduler.selectors import promises


class AccountLimits:
    """What the accounts of one commit may use; made when their rows are locked."""

    def __init__(self, group_id: int, *, owner_ids: Collection[int], queue_ids: Collection[int]) -> None:
        owners = models.User.objects.filter(pk__in=owner_ids, policy__isnull=False)
        queues = models.Queue.objects.filter(pk__in=queue_ids)
        self._owners = _limited(
            owners.values_list("pk", "policy__max_slots", "policy__max_concurrent_sessions")
        )
        self._queues = _limited(queues.values_list("pk", "max_slots", "max_concurrent_sessions"))
        self._promised = promises.Promises({}, {})
        if self._owners or self._queues:
            self._promised = promises.elsewhere(group_id)

    def require(self, session: models.Session, grants: tuple[decisions.NodeGrant, ...]) -> None:
        """
        Raise unless a start stays within the limits of its owner and queue.

        Raises:
            StaleState: another group has used or reserved what was left.
        """
        wanted = _wanted(grants)
        owner, queue = session.owner_id, session.queue_id
        if owner in self._owners:
            used = models.OwnerUsage.objects.filter(owner=owner).values_list("kind", "used")
            _require(wanted, self._owners[owner], dict(used), self._promised.owners.get(owner, {}))
        if queue in self._queues:
            in_queue = models.QueueUsage.objects.filter(queue=queue).values_list("kind", "used")
            _require(wanted, self._queues[queue], dict(in_queue), self._promised.queues.get(queue, {}))

    def require_all(self, starts: Sequence[tuple[models.Session, tuple[decisions.NodeGrant, ...]]]) -> None:
        """
        Raise unless all these starts together stay within the limits; see ``require``. At most two queries.

        Raises:
            StaleState: one of them does not.
        """
        used = {
            "owner_id": _used(models.OwnerUsage.objects, "owner", self._owners),
            "queue_id": _used(models.QueueUsage.objects, "queue", self._queues),
        }
        limits = {"owner_id": self._owners, "queue_id": self._queues}
        promised = {"owner_id": self._promised.owners, "queue_id": self._promised.queues}
        for session, grants in starts:
            wanted = _wanted(grants)
            for name, limited in limits.items():
                key = getattr(session, name)
                if key in limited:
                    _require(wanted, limited[key], used[name][key], promised[name].get(key, {}))
                    used[name][key].update(wanted)


def _used(rows: Manager[Any], name: str, ids: Collection[int]) -> dict[int, collections.Counter[str]]:
    """Return id -> what is used now, by kind, for every id. A query where there are ids."""
    found: dict[int, collections.Counter[str]] = {pk: collections.Counter() for pk in ids}
    if found:
        for pk, kind, amount in rows.filter(**{f"{name}__among": ids}).values_list(
            f"{name}_id", "kind", "used"
        ):
            found[pk][kind] = amount
    return found


def _wanted(grants: tuple[decisions.NodeGrant, ...]) -> collections.Counter[str]:
    wanted = collections.Counter({core_limits.SESSIONS: 1})
    for grant in grants:
        wanted.update(grant.slots.as_dict())
    return wanted


def _limited(rows) -> dict[int, dict[str, int]]:  # type: ignore[no-untyped-def]
    found = {}
    for pk, max_slots, max_sessions in rows:
        limits = dict(max_slots)
        if max_sessions is not None:
            limits[core_limits.SESSIONS] = max_sessions
        if limits:
            found[pk] = limits
    return found


def _require(
    wanted: Mapping[str, int], limits: Mapping[str, int], used: Mapping[str, int], promised: Mapping[str, int]
) -> None:
    for kind, amount in wanted.items():
        taken = used.get(kind, 0) + promised.get(kind, 0)
        if kind in limits and amount > 0 and taken + amount > limits[kind]:
            raise errors.StaleState(f"another group took what the limit of {limits[kind]} {kind} had left")
