"""
How many sessions of a list each further filter would leave: by state, result, group, queue, owner and reason.

One pass over what the viewer may see counts the combinations; a facet's own filter is left out of its counts, so that
they show where the others are. Owners and reasons are counted of sessions that the viewer reads in full alone.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.db.models import Count, QuerySet, Value

from scheduler import models
from scheduler.core import states
from scheduler.selectors import permissions, verdicts

ALIVE, ENDED = "alive", "ended:"
ME = "me"
_OVER = states.SessionState.TERMINATED.value
_FACETS = ("state", "group", "queue", "owner", "reason")


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """
    Value -> how many, by facet, and how many pass all filters.

    ``state`` counts states, ``alive`` and ``ended:<result>``, and under the empty text all of them.
    """

    total: int
    state: Mapping[str, int]
    group: Mapping[str, int]
    queue: Mapping[str, int]
    owner: Mapping[str, int]
    reason: Mapping[str, int]
    mine: int  #: of the viewer, whatever the filter of the owner


class _Kind(NamedTuple):
    """What the sessions of one combination have in common."""

    state: str
    result: str
    group: int
    queue: int
    owner: int
    is_held: bool
    reason: str | None
    count: int


def count(found: QuerySet[models.Session], viewer: models.User, chosen: Mapping[str, str]) -> Counts:
    """
    Count sessions, all visible to the viewer, by facet. Two queries.

    Args:
        chosen: facet -> its value in the address, empty for none; an owner may be ``me``.
    """
    columns = ("state", "result", "group_id", "queue_id", "owner_id", "is_held", "pend_reason__reason")
    rows = found.order_by().values_list(*columns).annotate(count=Count("pk")).values_list(*columns, "count")
    kinds = [_Kind(*row) for row in rows]
    reads = _reader(viewer)
    names = _names(kinds, [kind.owner for kind in kinds if reads(kind)])
    counted: dict[str, collections.Counter[str]] = {
        name: collections.Counter() for name in (*_FACETS, "mine", "total")
    }
    for kind in kinds:
        values = _values(kind, names, reads(kind))
        if kind.owner == viewer.pk:
            values["owner"].add(ME)
        _add(counted, values, chosen, kind.count)
    by_facet = {name: dict(counted[name]) for name in _FACETS}
    mine = by_facet["owner"].pop(ME, 0)
    return Counts(total=counted["total"][""], mine=mine, **by_facet)


def _add(
    counted: dict[str, collections.Counter[str]],
    values: Mapping[str, set[str]],
    chosen: Mapping[str, str],
    count: int,
) -> None:
    """Count a combination towards each facet whose own filter is the only one that it may fail."""
    failed = [name for name in _FACETS if chosen.get(name) and chosen[name] not in values[name]]
    if not failed:
        counted["total"][""] += count
    for name in _FACETS if not failed else failed[:1] if len(failed) == 1 else ():
        for value in values[name]:
            counted[name][value] += count


def _values(kind: _Kind, names: Mapping[tuple[str, int], str], is_read: bool) -> dict[str, set[str]]:
    """Return facet -> the values of it that a combination has."""
    is_over = kind.state == _OVER
    state = {"", kind.state, f"{ENDED}{kind.result}" if is_over else ALIVE}
    waits = is_read and kind.state == states.SessionState.PENDING.value
    return {
        "state": state,
        "group": {names["group", kind.group]},
        "queue": {names["queue", kind.queue]},
        "owner": {names["owner", kind.owner]} if is_read else set(),
        "reason": {verdicts.headline(kind.reason, is_held=kind.is_held)} if waits else set(),
    }


def _reader(viewer: models.User) -> collections.abc.Callable[[_Kind], bool]:
    """Return what ``permissions.readable_sessions`` says, for counted sessions."""
    if permissions.is_administrator(viewer):
        return lambda kind: True
    operated = permissions.operated_groups(viewer)
    return lambda kind: kind.owner == viewer.pk or kind.group in operated


def _names(kinds: Iterable[_Kind], owners: Iterable[int]) -> dict[tuple[str, int], str]:
    """Return (facet, id) -> the name in the address. One query."""
    ids = {
        "group": {kind.group for kind in kinds},
        "queue": {kind.queue for kind in kinds},
        "owner": set(owners),
    }
    tables = {
        "group": (models.ResourceGroup.objects, "slug"),
        "queue": (models.Queue.objects, "slug"),
        "owner": (models.User.objects, "username"),
    }
    parts = [
        table.filter(pk__in=ids[facet]).order_by().values_list(Value(facet), "pk", name)
        for facet, (table, name) in tables.items()
    ]
    rows = parts[0].union(*parts[1:], all=True)
    return {(facet, pk): name for facet, pk, name in rows}
