"""
What one process remembers of a group's sessions from one round to the next, so that a round reads only what changed.

Internal to the snapshot, which is equal to one that is read whole: the database itself tells which rows were written
since the last reading, whoever wrote them. What a session holds changes only together with its row.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses

from django.db import connection

from scheduler import models
from scheduler.core import entities
from scheduler.selectors import session_rows

#: Groups that a process remembers.
_GROUPS = 16
_XID = 1 << 32


@dataclasses.dataclass
class Memory:
    """The sessions of one group as they were read last, without extras."""

    server: str = ""  #: which run of which database it was read from; another counts transactions anew
    horizon: int = 0  #: transactions from this number on were not seen whole; 0 = nothing was read yet
    values: dict[int, entities.Session] = dataclasses.field(default_factory=dict)
    versions: dict[int, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class _Change:
    """What the database says of a group's live sessions."""

    server: str
    ids: list[int]
    changed: list[int] | None  #: those written since the horizon; None = cannot be told
    horizon: int
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
    change = _look(group, memory)
    sessions = session_rows.live(group)
    if change.is_own or change.changed is None:
        rows = session_rows.rows(sessions)
        known = Memory()
    else:
        rows = session_rows.rows(sessions.filter(pk__among=change.changed)) if change.changed else []
        gone = set(change.changed)
        known = Memory(values={pk: one for pk, one in memory.values.items() if pk not in gone})
        known.versions = memory.versions
    fresh = session_rows.bare(rows)
    values = {**known.values, **fresh}
    versions = {**known.versions, **{row.pk: row.state_version for row in rows}}
    ids = sorted(values.keys() & {*change.ids, *fresh})
    found = Memory(
        change.server, change.horizon, {pk: values[pk] for pk in ids}, {pk: versions[pk] for pk in ids}
    )
    if not change.is_own:
        vars(memory).update(vars(found))
    return found


def _look(group: models.ResourceGroup, memory: Memory) -> _Change:
    """Ask which sessions are live, and which of them were written since the horizon."""
    since = memory.horizon % _XID
    with connection.cursor() as cursor:
        cursor.execute(_LOOK, [str(max(since, _RESERVED + 1)), group.pk])
        server, ids, changed, horizon, is_own = cursor.fetchone()
    can_tell = since > _RESERVED and server == memory.server
    return _Change(server, ids or [], (changed or []) if can_tell else None, horizon, is_own)


#: Numbers of transactions up to this one have meanings of their own.
_RESERVED = 2
#: A row's ``xmin`` is the transaction that wrote it. Ages compare such numbers, which begin anew after 2^32.
_LOOK = """
SELECT current_database() || ' ' || pg_postmaster_start_time(),
    array_agg(id), array_agg(id) FILTER (WHERE age(xmin) <= age(%s::xid)),
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_current_xact_id_if_assigned() IS NOT NULL
FROM scheduler_session WHERE group_id = %s AND state <> 'terminated'
"""
