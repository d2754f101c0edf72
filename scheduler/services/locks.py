"""
Locks, and their one order: caps of priorities (advisory), group (advisory), owner usage, queue usage, node slots,
sessions, round requests, event counter. Rows of a kind are locked by ascending id. Whoever keeps the order cannot
deadlock with another who does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection

from django.db import connection, transaction

from scheduler import errors, models

#: First key of PostgreSQL's two-key advisory locks; the second is the row's id. A new kind takes the next number.
GROUP_ROUND, PRIORITY_CAPS = 0x5843, 0x5844
_TRIES = 5


def try_group(group_id: int) -> bool:
    """Take the round lock of a group until the transaction ends; False = somebody else runs a round there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [GROUP_ROUND, group_id])
        return bool(cursor.fetchone()[0])


def share_caps() -> None:
    """Keep every cap of priorities as it is until the transaction ends; others who only need that do not wait (P09)."""
    _caps("pg_advisory_xact_lock_shared")


def change_caps() -> None:
    """Wait for all who set a priority now, and let none do so until the transaction ends, which changes a cap (P09)."""
    _caps("pg_advisory_xact_lock")


def _caps(function: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, 0)", [PRIORITY_CAPS])


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
    """
    Lock usage, slots and sessions in the one order; return the sessions by id, as they are now.

    The locks leave foreign keys alone (``FOR NO KEY UPDATE``): an event about a session that somebody else has locked
    can be written without waiting, else the holder of the event counter could wait for one who waits for the counter.
    """
    _touch(models.OwnerUsage.objects.filter(owner_id__in=owner_ids))
    _touch(models.QueueUsage.objects.filter(queue_id__in=queue_ids))
    _touch(models.NodeSlot.objects.filter(node_id__in=node_ids))
    sessions = models.Session.objects.select_for_update(of=("self",), no_key=True)
    sessions = sessions.select_related("queue", "group", "group__policy")
    return {row.pk: row for row in sessions.filter(pk__in=session_ids).order_by("pk")}


def _touch(queryset) -> None:  # type: ignore[no-untyped-def]
    list(queryset.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def session(session_id: int) -> models.Session:
    """
    Lock one session with all rows that a change of it may touch.

    Raises:
        NotVisible: there is no such row.
        StaleState: it kept moving while the locks were taken.
    """
    seen = models.Session.objects.filter(pk=session_id).values_list("owner_id", "queue_id").first()
    if seen is None:
        raise errors.NotVisible("There is no such session, or you may not see it.")
    return together([session_id], owner_ids=[seen[0]], queue_ids=[seen[1]])[session_id]


def together(
    session_ids: Collection[int], *, owner_ids: Collection[int] = (), queue_ids: Collection[int] = ()
) -> dict[int, models.Session]:
    """
    Lock sessions with everybody bound to them, and the nodes of all.

    Raises:
        StaleState: they kept moving while the locks were taken.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(_Moved), transaction.atomic():
            return _lock_once(session_ids, owner_ids=owner_ids, queue_ids=queue_ids)
    raise errors.StaleState("The session is moving between nodes; try again.")


class _Moved(Exception):
    """What was read before the locks is no longer so; leaving the savepoint gives the locks back."""


def _lock_once(
    session_ids: Collection[int], *, owner_ids: Collection[int], queue_ids: Collection[int]
) -> dict[int, models.Session]:
    bound, node_ids = ground_of(session_ids)
    locked = rows(owner_ids=owner_ids, queue_ids=queue_ids, node_ids=node_ids, session_ids=bound)
    bound_now, node_ids_now = ground_of(session_ids)
    if not (bound_now <= bound and node_ids_now <= node_ids):
        raise _Moved
    return locked


def ground_of(session_ids: Collection[int]) -> tuple[set[int], set[int]]:
    """
    Return sessions with all that reservations and open decisions bind to them, over any number of steps, and the nodes
    on which any of these holds something or has something reserved.

    Whoever ends a reservation takes stops back; whoever fails to stop ends a reservation. One query.
    """
    with connection.cursor() as cursor:
        cursor.execute(_GROUND, [list(session_ids)])
        found = cursor.fetchall()
    return {one for is_node, one in found if not is_node}, {one for is_node, one in found if is_node}


#: A reservation binds its holder to the open victims of its decision, and to those whose room it was promised.
_GROUND = """
WITH RECURSIVE one_way AS (
    SELECT r.session_id AS a, v.session_id AS b
    FROM scheduler_reservation r JOIN scheduler_victim v ON v.decision_id = r.decision_id
    WHERE NOT EXISTS (SELECT 1 FROM scheduler_victimfate f WHERE f.victim_id = v.id)
    UNION
    SELECT r.session_id, w.session_id
    FROM scheduler_reservation r JOIN scheduler_reservation_waits_for w ON w.reservation_id = r.id
), link AS (
    SELECT a, b FROM one_way UNION SELECT b, a FROM one_way
), bound(id) AS (
    SELECT unnest(%s::bigint[])
    UNION
    SELECT link.b FROM bound JOIN link ON link.a = bound.id
)
SELECT false, id FROM bound
UNION
SELECT true, a.node_id FROM scheduler_allocation a JOIN bound ON bound.id = a.session_id
UNION
SELECT true, r.node_id FROM scheduler_reservation r JOIN bound ON bound.id = r.session_id
"""
