"""
Is the database as it must be? Recounts the ledgers and looks for what rests where nothing may rest.

Internal: for `verify_invariants` and the ends of system tests; read in one repeatable-read transaction.
"""

from __future__ import annotations

import collections
import datetime
from collections.abc import Callable, Iterator

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from scheduler import clock, models
from scheduler.core import decisions, states
from scheduler.models import ledgers

S = states.SessionState
#: How long past a deadline the reconciler may be before that is a finding, seconds.
PATIENCE_S = 10


def findings() -> list[str]:
    """Return one sentence for everything that is not as it must be; empty = clean."""
    checks: tuple[Callable[[], Iterator[str]], ...] = (
        _slots,
        _devices,
        _usage,
        _holders,
        _deadlines,
        _events,
        _outcomes,
        _victims,
    )
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return [text for check in checks for text in check()]


def unsettled() -> list[str]:
    """Return one sentence per session in transition and per open command: empty when everything rests."""
    rows = models.Session.objects.filter(state__in=states.TRANSITIONAL).order_by("pk")
    texts = [f"session {row.public_id} is {row.state}" for row in rows]
    open_rows = models.AgentCommand.objects.filter(settled_at=None).order_by("pk")
    return texts + [f"command {row.command_id} ({row.kind}) is open" for row in open_rows]


def forgotten(now: datetime.datetime) -> QuerySet[models.Session]:
    """Return the sessions in transition whose deadline has passed and for which no command is open."""
    is_open = Exists(models.AgentCommand.objects.filter(session=OuterRef("pk"), settled_at=None))
    overdue = models.Session.objects.filter(state__in=states.TRANSITIONAL, state_deadline__lte=now)
    return overdue.filter(~is_open)


def _held() -> tuple[dict[tuple[int, str], int], dict[tuple[int, str], int], dict[tuple[int, str], int]]:
    by_node: dict[tuple[int, str], int] = collections.Counter()
    by_owner: dict[tuple[int, str], int] = collections.Counter()
    by_queue: dict[tuple[int, str], int] = collections.Counter()
    for held in models.Allocation.objects.select_related("session"):
        for kind, amount in held.slots.items():
            by_node[held.node_id, kind] += amount
            by_owner[held.session.owner_id, kind] += amount
            by_queue[held.session.queue_id, kind] += amount
    for owner_id, queue_id in models.Session.objects.filter(is_counted=True).values_list(
        "owner_id", "queue_id"
    ):
        by_owner[owner_id, ledgers.SESSIONS] += 1
        by_queue[queue_id, ledgers.SESSIONS] += 1
    return by_node, by_owner, by_queue


def _slots() -> Iterator[str]:
    by_node, _, _ = _held()
    drawn: dict[tuple[int, str], int] = collections.Counter()
    for kept in models.Reservation.objects.filter(is_consumed=False):
        for kind, amount in kept.drawn.items():
            drawn[kept.node_id, kind] += amount
    for row in models.NodeSlot.objects.select_related("node"):
        key = (row.node_id, row.kind)
        if row.allocated != by_node.get(key, 0):
            yield f"{row.node.name} {row.kind}: allocated {row.allocated}, sessions hold {by_node.get(key, 0)}"
        if row.reserved != drawn.get(key, 0):
            yield f"{row.node.name} {row.kind}: reserved {row.reserved}, reservations have drawn {drawn.get(key, 0)}"


def _devices() -> Iterator[str]:
    held: set[tuple[int, int, str, int]] = {
        (a.session_id, a.node_id, kind, index)
        for a in models.Allocation.objects.all()
        for kind, indices in a.indices.items()
        for index in indices
    }
    rows = models.NodeDevice.objects.exclude(session=None)
    marked = set(rows.values_list("session_id", "node_id", "kind", "index"))
    for session_id, node_id, kind, index in sorted(held ^ marked):
        yield f"device {kind} {index} of node {node_id} and session {session_id} disagree"


def _usage() -> Iterator[str]:
    _, by_owner, by_queue = _held()
    for owner in models.OwnerUsage.objects.all():
        if owner.used != by_owner.get((owner.owner_id, owner.kind), 0):
            yield f"usage of owner {owner.owner_id} in {owner.kind} is {owner.used}, held are others"
    for queue in models.QueueUsage.objects.all():
        if queue.used != by_queue.get((queue.queue_id, queue.kind), 0):
            yield f"usage of queue {queue.queue_id} in {queue.kind} is {queue.used}, held are others"


def _holders() -> Iterator[str]:
    resting = Q(state__in=(S.PENDING, S.TERMINATED))
    for row in models.Session.objects.filter(resting, allocations__isnull=False).distinct():
        yield f"session {row.public_id} is {row.state} and holds a node"
    for row in models.Session.objects.filter(state__in=states.HOLDING, allocations=None):
        yield f"session {row.public_id} is {row.state} and holds no node"
    counted = models.Session.objects.filter(is_counted=True, state__in=(S.PENDING, S.TERMINATED, S.SUSPENDED))
    for row in counted:
        yield f"session {row.public_id} is {row.state} and counts as running"


def _deadlines() -> Iterator[str]:
    for row in models.Session.objects.filter(state__in=states.TRANSITIONAL, state_deadline=None):
        yield f"session {row.public_id} is {row.state} without a deadline"
    patience = datetime.timedelta(seconds=PATIENCE_S * settings.TIME_SCALE)
    for row in forgotten(clock.now() - patience).order_by("pk"):
        yield f"session {row.public_id} is {row.state} past its deadline, and no command for it is open"
    for kept in models.Reservation.objects.filter(session__state=S.TERMINATED):
        yield f"reservation {kept.pk} is for a session that is over"


def _events() -> Iterator[str]:
    counts = models.Event.objects.aggregate(count=Count("number"), last=Max("number"))
    counter = models.EventCounter.objects.get(pk=1)
    if (counts["last"] or 0) != counter.last or counts["count"] != counter.last:
        yield f"the event counter is at {counter.last}; {counts['count']} events, the last is {counts['last']}"


def _outcomes() -> Iterator[str]:
    rows = models.Decision.objects.filter(op=decisions.DecisionOp.PREEMPT, kind=models.Decision.Kind.PREEMPT)
    undecided = Exists(models.Victim.objects.filter(decision=OuterRef("pk"), fate=None))
    for row in rows.filter(~undecided, outcome=None, reservation=None):
        yield f"decision {row.public_id} has neither a reservation nor an outcome"


def _victims() -> Iterator[str]:
    now = clock.now()
    rows = models.Victim.objects.filter(fate=None).exclude(
        session__state__in=(S.PREEMPTED, S.SCHEDULED, S.TERMINATING)
    )
    for row in rows.select_related("session"):
        yield f"victim {row.session.public_id} is {row.session.state} and has no fate at {now:%H:%M:%S}"
