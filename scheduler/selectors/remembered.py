"""
What one process remembers of a group's sessions from one round to the next, so that a round reads only what changed.

Internal to the snapshot, which is equal to one that is read whole: the database itself tells which rows were written
since the last reading, whoever wrote them. What a session holds changes only together with its row.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
from collections.abc import Collection
from typing import Any, Protocol, TypeVar

from django.db import connection

from scheduler import models
from scheduler.core import decisions, entities
from scheduler.selectors import session_rows, stored_rounds

#: Groups that a process remembers.
_GROUPS = 16
_XID = 1 << 32
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Mark:
    """Up to where a table was read."""

    server: str = ""  #: which run of which database; another counts transactions anew
    horizon: int = 0  #: transactions from this number on were not seen whole; 0 = nothing was read yet


class Reason(Protocol):
    """What is written of the wait of one session."""

    session_id: int
    reason: str
    facts: dict[str, Any]
    nodes: list[Any]
    candidates: list[Any]
    since: datetime.datetime
    round_number: int


@dataclasses.dataclass
class Memory:
    """The sessions of one group as they were read last, without extras, and what was written of their waits."""

    mark: Mark = Mark()
    values: dict[int, entities.Session] = dataclasses.field(default_factory=dict)
    versions: dict[int, int] = dataclasses.field(default_factory=dict)
    said: stored_rounds.Said = dataclasses.field(default_factory=stored_rounds.Said)
    reasons_mark: Mark = Mark()
    reasons: dict[int, Reason] = dataclasses.field(default_factory=dict)
    #: session id -> what is written, and an answer of the core that says the same
    told: dict[int, tuple[Reason, decisions.Pend]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class _Change:
    """What the database says of the rows of a group's live sessions, by session id."""

    mark: Mark
    ids: set[int]
    changed: list[int] | None  #: those written since the mark; None = cannot be told
    is_own: bool  #: whether this transaction has written, which may be taken back


_memories: collections.OrderedDict[int, Memory] = collections.OrderedDict()


def of(group_id: int) -> Memory:
    """Return what this process remembers of a group."""
    memory = _memories.setdefault(group_id, Memory())
    _memories.move_to_end(group_id)
    with contextlib.suppress(KeyError):  # another thread may have forgotten one meanwhile
        while len(_memories) > _GROUPS:
            _memories.popitem(last=False)
    return memory


def read(group: models.ResourceGroup, memory: Memory) -> Memory:
    """
    Return the live sessions of a group as they are now, by id in order. 3 queries.

    Args:
        memory: of this group; brought up to date, unless this transaction has written already.
    """
    change = _look("scheduler_session s", "s.id", group, memory.mark)
    sessions = session_rows.live(group)
    if change.is_own or change.changed is None:
        rows, known = session_rows.rows(sessions), Memory()
    else:
        rows = session_rows.rows(sessions.filter(pk__among=change.changed)) if change.changed else []
        known = Memory(values=_without(memory.values, change.changed), versions=memory.versions)
    fresh = session_rows.bare(rows)
    values = {**known.values, **fresh}
    versions = {**known.versions, **{row.pk: row.state_version for row in rows}}
    ids = sorted(values.keys() & (change.ids | fresh.keys()))
    found = Memory(change.mark, {pk: values[pk] for pk in ids}, {pk: versions[pk] for pk in ids})
    if not change.is_own:
        memory.mark, memory.values, memory.versions = found.mark, found.values, found.versions
    return found


def read_reasons(group: models.ResourceGroup, memory: Memory) -> dict[int, Reason]:
    """
    Return session id -> what is written of its wait, of all live sessions of a group. 2 queries.

    Args:
        memory: of this group; brought up to date, unless this transaction has written already.
    """
    table = "scheduler_pendreason p JOIN scheduler_session s ON s.id = p.session_id"
    change = _look(table, "p.session_id", group, memory.reasons_mark)
    rows = models.PendReason.objects.order_by()
    known: dict[int, Reason] = {}
    if change.is_own or change.changed is None:
        rows = rows.filter(session__in=session_rows.live(group))
    else:
        unread = {
            *change.changed,
            *(change.ids - memory.reasons.keys()),
        }  # or of a session that is here again
        rows = rows.filter(session__among=unread) if unread else rows.none()
        known = _without(memory.reasons, unread)
    fresh = {row.session_id: row for row in rows.values_list(*_REASON, named=True)}
    ids = change.ids | fresh.keys()
    found = {pk: row for pk, row in {**known, **fresh}.items() if pk in ids}
    if not change.is_own:
        memory.reasons_mark, memory.reasons = change.mark, found
    memory.told = {pk: told for pk, told in memory.told.items() if found.get(pk) == told[0]}
    return found


_REASON = ("session_id", "reason", "facts", "nodes", "candidates", "since", "round_number")


def _without(known: dict[int, T], ids: Collection[int]) -> dict[int, T]:
    gone = set(ids)
    return {pk: one for pk, one in known.items() if pk not in gone}


def _look(table: str, key: str, group: models.ResourceGroup, mark: Mark) -> _Change:
    """Ask which rows there are of a group's live sessions, and which of them were written since a mark."""
    since = mark.horizon % _XID
    statement = _LOOK.format(table=table, key=key, row=key.partition(".")[0])
    with connection.cursor() as cursor:
        cursor.execute(statement, [str(max(since, _RESERVED + 1)), group.pk])
        server, ids, changed, horizon, is_own = cursor.fetchone()
    can_tell = since > _RESERVED and server == mark.server
    return _Change(Mark(server, horizon), set(ids or ()), (changed or []) if can_tell else None, is_own)


#: Numbers of transactions up to this one have meanings of their own.
_RESERVED = 2
#: A row's ``xmin`` is the transaction that wrote it. Ages compare such numbers, which begin anew after 2^32.
_LOOK = """
SELECT current_database() || ' ' || pg_postmaster_start_time(),
    array_agg({key}), array_agg({key}) FILTER (WHERE age({row}.xmin) <= age(%s::xid)),
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_current_xact_id_if_assigned() IS NOT NULL
FROM {table} WHERE s.group_id = %s AND s.state <> 'terminated'
"""
