"""
Locks, and their one order: group (advisory), owner usage, queue usage, node slots, sessions, round requests, event
counter. Rows of a kind are locked by ascending id. Whoever keeps the order cannot deadlock with another who does.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection

from scheduler import errors, models

#: First key of PostgreSQL's two-key advisory locks; the second is the row's id. A new kind takes the next number.
GROUP_ROUND = 0x5843


def try_group(group_id: int) -> bool:
    """Take the round lock of a group until the transaction ends; False = somebody else runs a round there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [GROUP_ROUND, group_id])
        return bool(cursor.fetchone()[0])


def share_policy(group_id: int) -> int | None:
    """Return the id of the policy version in force and keep it in force until the transaction ends (P12)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT policy_id FROM scheduler_resourcegroup WHERE id = %s FOR SHARE", [group_id])
        row = cursor.fetchone()
    return row[0] if row else None


def rows(
    *,
    owner_ids: Collection[int],
    queue_ids: Collection[int],
    node_ids: Collection[int],
    session_ids: Collection[int],
) -> dict[int, models.Session]:
    """Lock usage, slots and sessions in the one order; return the sessions by id, as they are now."""
    _touch(models.OwnerUsage.objects.filter(owner_id__in=owner_ids))
    _touch(models.QueueUsage.objects.filter(queue_id__in=queue_ids))
    _touch(models.NodeSlot.objects.filter(node_id__in=node_ids))
    sessions = models.Session.objects.select_for_update(of=("self",)).select_related("queue", "group")
    return {row.pk: row for row in sessions.filter(pk__in=session_ids).order_by("pk")}


def _touch(queryset) -> None:  # type: ignore[no-untyped-def]
    list(queryset.select_for_update().order_by("pk").values_list("pk", flat=True))


def session(session_id: int) -> models.Session:
    """
    Lock one session with all rows that a change of it may touch.

    Raises:
        NotVisible: there is no such row.
        StaleState: it moved to another node twice while the locks were taken.
    """
    for _ in range(2):
        node_ids = _node_ids(session_id)
        seen = models.Session.objects.filter(pk=session_id).values_list("owner_id", "queue_id").first()
        if seen is None:
            raise errors.NotVisible("There is no such session, or you may not see it.")
        locked = rows(owner_ids=[seen[0]], queue_ids=[seen[1]], node_ids=node_ids, session_ids=[session_id])
        if _node_ids(session_id) <= node_ids:
            return locked[session_id]
    raise errors.StaleState("The session moved to another node meanwhile; try again.")


def _node_ids(session_id: int) -> set[int]:
    held = models.Allocation.objects.filter(session_id=session_id).values_list("node_id", flat=True)
    kept = models.Reservation.objects.filter(session_id=session_id).values_list("node_id", flat=True)
    return set(held) | set(kept)
