"""
One unit of work: a transaction whose events are numbered last and whose bells ring after commit.

The event counter's row orders all commits, so its lock is taken at the very end and held for one insert. Bells (live
hint, round request, commands) carry nothing that matters: whatever they announce is found by looking, too. Serves
rules 4 and 7 of the house style; RELIABILITY D2, D8, D9.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from scheduler import clock, models, points
from scheduler.services import actors, bells, bulk


@dataclasses.dataclass
class Work:
    """What one transaction will announce. Made by ``begin`` only."""

    actor: actors.Actor
    now: datetime.datetime
    events: list[models.Event] = dataclasses.field(default_factory=list)
    group_ids: set[int] = dataclasses.field(default_factory=set)
    command_ids: list[int] = dataclasses.field(default_factory=list)

    def tell(
        self,
        type: str,
        *,
        session: models.Session | None = None,
        group_id: int | None = None,
        node: models.Node | None = None,
        decision: models.Decision | None = None,
        **data: Any,
    ) -> None:
        """
        Append an event; it gets its number when the transaction ends. A session's or node's group is its own.

        Args:
            data: the event's facts; ``changed``, a tuple of column names, is kept apart from them.
        """
        event = models.Event(type=type, at=self.now, session=session, node=node, decision=decision)
        event.group_id = group_id or (session.group_id if session else node.group_id if node else None)
        event.actor_id, event.actor_name = self.actor.user_id, self.actor.name
        event.changed = list(data.pop("changed", ()))
        event.data = data
        self.events.append(event)

    def ask_round(self, group_id: int) -> None:
        """Ask for a round of one group; requests of one transaction merge."""
        self.group_ids.add(group_id)


@contextlib.contextmanager
def begin(actor: actors.Actor) -> Iterator[Work]:
    """
    Open a transaction, and number its events as its last statement.

    Yields:
        The work, with the database's time at its start.
    """
    with transaction.atomic():
        work = Work(actor, clock.now())
        yield work
        _finish(work)


def _finish(work: Work) -> None:
    for group_id in sorted(work.group_ids):
        models.GroupRounds.objects.filter(group=group_id).update(asked=F("asked") + 1)
    last = _number_events(work.events) if work.events else 0
    group_ids, command_ids = sorted(work.group_ids), list(work.command_ids)
    transaction.on_commit(
        lambda: bells.ring(last=last, group_ids=group_ids, command_ids=command_ids), robust=True
    )


def _number_events(events: list[models.Event]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_NUMBERS, [len(events)])
        last: int = cursor.fetchone()[0]
    for number, event in enumerate(events, start=last - len(events) + 1):
        event.number = number
    if len(events) < _MANY:
        models.Event.objects.bulk_create(events)
    else:
        bulk.insert(models.Event, _COLUMNS, ([getattr(one, name) for name in _COLUMNS] for one in events))
    points.reach("event.numbered")
    return last


#: The one row whose lock orders all commits.
_NUMBERS = "UPDATE scheduler_eventcounter SET last = last + %s WHERE id = 1 RETURNING last"
#: From so many events on they are written by COPY.
_MANY = 50
_COLUMNS = [field.attname for field in models.Event._meta.concrete_fields]
