"""
What preemption would have done while a group was in shadow: how many, whose, what was waited and what had been lost.

Waiting is measured, not guessed: how long each session that would have got room waited from then on. Each victim's
work is counted once. Later decisions of a shadow assume that the earlier ones were not carried out, so none of this is
exact: pages say so.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
from collections.abc import Iterable
from typing import Any

from scheduler import clock, errors, models
from scheduler.core import decisions, entities
from scheduler.selectors import permissions

_SHADOW = entities.PreemptionState.SHADOW.value
#: So many of the newest decisions are read at most.
MOST = 5_000
#: What every report says of itself.
HONESTY = (
    "Nothing was stopped, so each of these decisions was made as if those before it had not been carried out: with"
    " preemption on, later ones would have differed."
)


@dataclasses.dataclass(frozen=True, slots=True)
class OfOwner:
    """One owner's part: sessions that would have been stopped, and that would have got room."""

    owner: str
    stopped: int
    lost: dict[str, int]  #: kind -> amount x seconds
    helped: int


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """One time in shadow, as far as its viewer may see the sessions."""

    since: datetime.datetime
    until: datetime.datetime | None  #: None = it is in shadow now
    decisions: (
        int  #: different ones: the same preemptor with the same victims is one, however often it came up
    )
    rounds: int  #: how often they came up
    helped: int  #: sessions that would have got room
    still_waiting: int  #: of these, those that have not started yet
    waited_s: int  #: how long they waited after that moment, together; those that still wait, until now
    stopped: int  #: sessions that would have been stopped
    lost: dict[str, int]  #: kind -> amount x seconds of their runs that a stop would have thrown away
    repeats: list[
        tuple[models.Session, int]
    ]  #: those chosen more than once, with how often, most often first
    owners: list[OfOwner]
    is_cut: bool  #: there were more decisions than are read


def period(group: models.ResourceGroup) -> tuple[datetime.datetime, datetime.datetime | None] | None:
    """Return since when the group is in shadow, or from when to when it last was; None = never. At most 4 queries."""
    rows = models.PolicyVersion.objects.filter(group=group)
    last = rows.filter(preemption_state=_SHADOW).order_by("-version").first()
    if last is None:
        return None
    before = rows.filter(version__lt=last.version).exclude(preemption_state=_SHADOW).order_by("-version")
    other = before.values_list("version", flat=True).first() or 0
    first = rows.filter(version__gt=other).order_by("version").first()
    after = rows.filter(version__gt=last.version).order_by("version").first()
    assert first is not None
    return first.created_at, after.created_at if after else None


def load(viewer: models.User, group: models.ResourceGroup) -> Report | None:
    """
    Return the report of the group's last time in shadow, None when it never was.

    Raises:
        NotAllowed: the viewer may not preview the group's rules.
    """
    permissions.require(permissions.can_preview(viewer, group), f"see the shadow report of {group.slug}")
    found = period(group)
    if found is None:
        return None
    since, until = found
    rows = models.Decision.objects.filter(group=group, kind=models.Decision.Kind.SHADOW, at__gte=since)
    if until is not None:
        rows = rows.filter(at__lt=until)
    fields = ("session_id", "attempt", "at", "record__victims", "shadow__count")
    newest = list(rows.order_by("-pk").values_list(*fields)[: MOST + 1])
    seen = [_Seen(*row) for row in reversed(newest[:MOST])]
    return _report(viewer, (since, until), seen, is_cut=len(newest) > MOST)


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    """One shadow decision."""

    session_id: int
    attempt: int
    at: datetime.datetime
    victims: list[dict[str, Any]]
    count: int | None


def _report(
    viewer: models.User,
    when: tuple[datetime.datetime, datetime.datetime | None],
    seen: list[_Seen],
    *,
    is_cut: bool,
) -> Report:
    times = collections.Counter(victim["session_id"] for one in seen for victim in one.victims)
    ids = {one.session_id for one in seen} | set(times)
    rows = permissions.visible_sessions(viewer).filter(pk__in=ids).select_related("owner")
    sessions = {row.pk: row for row in rows.defer("script", "environment", "argv")}
    runs = _runs(sessions)
    firsts = {(one.session_id, one.attempt): one for one in reversed(seen) if one.session_id in sessions}
    now = clock.now()
    waits = [_wait(sessions[one.session_id], runs, one, now=now) for one in firsts.values()]
    lost = _lost(seen, sessions, runs)
    helped = {pk for pk, _ in firsts}
    repeats = [(sessions[pk], count) for pk, count in times.most_common() if count > 1 and pk in sessions]
    return Report(
        *when,
        decisions=len(seen),
        rounds=sum(one.count or 1 for one in seen),
        helped=len(helped),
        still_waiting=sum(is_open for _, is_open in waits),
        waited_s=sum(seconds for seconds, _ in waits),
        stopped=len(lost),
        lost=_sum(lost.values()),
        repeats=repeats,
        owners=_owners(sessions, lost, helped),
        is_cut=is_cut,
    )


Runs = dict[int, list[models.Run]]


def _runs(ids: Iterable[int]) -> Runs:
    found: Runs = collections.defaultdict(list)
    for run in models.Run.objects.filter(session__in=list(ids)).order_by("attempt"):
        found[run.session_id].append(run)
    return found


def _wait(row: models.Session, runs: Runs, one: _Seen, *, now: datetime.datetime) -> tuple[int, bool]:
    """Return how long a session waited after it would have got room, and whether it still does."""
    started = (run.started_at for run in runs[row.pk] if run.started_at and run.started_at > one.at)
    end = next(started, None) or row.ended_at
    return max(0, int(((end or now) - one.at).total_seconds())), end is None


def _lost(seen: list[_Seen], sessions: dict[int, models.Session], runs: Runs) -> dict[int, dict[str, int]]:
    """Return victim -> what its first stop would have thrown away."""
    found: dict[int, dict[str, int]] = {}
    for one in seen:
        for victim in one.victims:
            row = sessions.get(victim["session_id"])
            if row is not None and row.pk not in found:
                found[row.pk] = _of_victim(row, victim, runs, one.at)
    return found


def _of_victim(
    row: models.Session, victim: dict[str, Any], runs: Runs, at: datetime.datetime
) -> dict[str, int]:
    if victim["action"] != decisions.Action.KILL.value:
        return {}
    starts = [run.started_at for run in runs[row.pk] if run.started_at and run.started_at <= at]
    ran_s = int((at - max(starts)).total_seconds()) if starts else 0
    return {kind: amount * row.node_count * ran_s for kind, amount in row.slots.items() if amount}


def _sum(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: collections.Counter[str] = collections.Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def _owners(
    sessions: dict[int, models.Session], lost: dict[int, dict[str, int]], helped: set[int]
) -> list[OfOwner]:
    names = {sessions[pk].owner.username for pk in {*lost, *helped}}
    found = [
        OfOwner(
            name,
            stopped=len(mine := [pk for pk in lost if sessions[pk].owner.username == name]),
            lost=_sum(lost[pk] for pk in mine),
            helped=sum(sessions[pk].owner.username == name for pk in helped),
        )
        for name in names
    ]
    return sorted(found, key=lambda one: (-one.stopped, -one.helped, one.owner))


def require(viewer: models.User, group: models.ResourceGroup) -> Report:
    """Return the report, or raise NotVisible where the group was never in shadow."""
    report = load(viewer, group)
    if report is None:
        raise errors.NotVisible(f"{group.slug} was never in shadow.")
    return report
