"""
What rules mean for the sessions that run: who is protected and why, and how much of each owner is at risk.

Internal to the preview, which has asked for the right; of a session that its viewer may not see, nothing is counted.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping

from scheduler import models
from scheduler.core import decisions, entities, exposure, states
from scheduler.core import snapshot as core_snapshot
from scheduler.selectors import permissions

_V = decisions.Verdict
#: How near to being stopped a session came: of several verdicts in one round the first of these is told.
_NEAREST = (
    _V.NOT_NEEDED,
    _V.POLICY_CHOSE_NOBODY,
    _V.POLICY_GAVE_NO_ANSWER,
    _V.INSUFFICIENT,
    _V.NODE_RULED_OUT,
    _V.FREES_NOTHING_SHORT,
    _V.LIMIT,
    _V.WOULD_CLOSE_CYCLE,
    _V.STOP_FAILED,
    _V.PREEMPTED_TOO_OFTEN,
    _V.MIN_RUNTIME,
    _V.OPTED_OUT,
    _V.RANKED_HIGHER_BY_OWNER,
    _V.NOT_LOWER,
    _V.QUEUE_NOT_PREEMPTIBLE,
    _V.QUEUE_NOT_LISTED,
    _V.OTHER_OWNER,
    _V.IN_ANOTHER_DECISION,
    _V.NOT_RUNNING,
    _V.PRIVATE_OR_SYSTEM,
)
_RANK = {verdict: place for place, verdict in enumerate(_NEAREST)}


@dataclasses.dataclass(frozen=True, slots=True)
class Protected:
    """Running sessions that are left alone for one reason."""

    verdict: str
    count: int
    slots: dict[str, int]  #: what they hold together
    example: models.Session
    facts: Mapping[str, int]  #: the numbers behind the example's verdict
    axis: str  #: on which it was compared


@dataclasses.dataclass(frozen=True, slots=True)
class OfOwner:
    """Running sessions of one owner: stopped now, open to being stopped, and protected."""

    owner: models.User
    stop: int
    could: int
    by_others: int  #: of ``could``, those that other owners' sessions may stop
    safe: int


@dataclasses.dataclass(frozen=True, slots=True)
class Exposures:
    """What one hypothetical round and its rules mean for what runs."""

    protected: list[Protected]
    untouched: int  #: running sessions that nothing protects and nobody needs now
    untouched_slots: dict[str, int]
    owners: list[OfOwner]


def load(
    viewer: models.User,
    view: core_snapshot.Snapshot,
    rules: entities.Policy,
    found: Iterable[decisions.Decision],
) -> Exposures:
    """Return them for the sessions that the viewer may see. Two queries."""
    found = list(found)
    running = {session.id for session in view.sessions if session.state is states.SessionState.RUNNING}
    open_ = {one.session_id: one for one in exposure.of_running(view, rules) if one.session_id in running}
    fields = ("pk", "public_id", "name", "slots", "node_count", "owner_id", "owner__username", "group_id")
    rows = permissions.visible_sessions(viewer).filter(pk__in=open_).select_related("owner").only(*fields)
    seen = {row.pk: row for row in rows.order_by("pk")}
    stopped = {pk for one in found if isinstance(one, decisions.Preempt) for pk in one.victim_jobids}
    told = _verdicts(view, found, open_)
    safe = {pk: verdict for pk, verdict in told.items() if pk in seen and pk not in stopped}
    rest = [row for pk, row in seen.items() if pk not in stopped and pk not in safe]
    return Exposures(_protected(safe, seen), len(rest), _sum(rest), _owners(seen, open_, stopped))


Told = tuple[decisions.Verdict, Mapping[str, int], str]


def _verdicts(
    view: core_snapshot.Snapshot,
    found: list[decisions.Decision],
    open_: Mapping[int, exposure.Exposure],
) -> dict[int, Told]:
    """Return the verdict that is told of each session: the round's nearest, else what protects it from everybody."""
    told: dict[int, Told] = {}
    owners = {session.id: session.owner_id for session in view.sessions}
    for one in found:
        for candidate in getattr(one, "candidates", ()):
            before = told.get(candidate.session_id)
            if before is None or _rank(candidate.verdict) < _rank(before[0]):
                axis = _axis(one, candidate, owners)
                told[candidate.session_id] = (candidate.verdict, candidate.facts, axis.value)
    for pk, one_exposure in open_.items():
        if one_exposure.shield is not None:
            told.setdefault(pk, (one_exposure.shield, {}, entities.Axis.OWNER.value))
    return told


def _axis(
    one: decisions.Decision, candidate: decisions.CandidateView, owners: Mapping[int, int]
) -> entities.Axis:
    """Return what was compared: without a set one's own sessions are judged as such, and others by their queues."""
    if isinstance(one, decisions.Preempt):
        return one.axis
    is_own = owners.get(one.session_id) == owners.get(candidate.session_id)
    return entities.Axis.OWNER if is_own else entities.Axis.QUEUE


def _rank(verdict: decisions.Verdict) -> int:
    return _RANK.get(verdict, -1)


def _protected(safe: Mapping[int, Told], seen: Mapping[int, models.Session]) -> list[Protected]:
    by_verdict: dict[str, list[int]] = collections.defaultdict(list)
    for pk, (verdict, _, _) in safe.items():
        by_verdict[verdict.value].append(pk)
    made = [_one(verdict, ids, safe, seen) for verdict, ids in by_verdict.items()]
    return sorted(made, key=lambda one: (-one.count, one.verdict))


def _one(
    verdict: str, ids: list[int], safe: Mapping[int, Told], seen: Mapping[int, models.Session]
) -> Protected:
    first = min(ids)
    rows = [seen[pk] for pk in ids]
    return Protected(verdict, len(ids), _sum(rows), seen[first], safe[first][1], safe[first][2])


def _sum(rows: Iterable[models.Session]) -> dict[str, int]:
    total: collections.Counter[str] = collections.Counter()
    for row in rows:
        total.update({kind: amount * row.node_count for kind, amount in row.slots.items()})
    return dict(total)


def _owners(
    seen: Mapping[int, models.Session], open_: Mapping[int, exposure.Exposure], stopped: set[int]
) -> list[OfOwner]:
    by_owner: dict[int, list[models.Session]] = collections.defaultdict(list)
    for row in seen.values():
        by_owner[row.owner_id].append(row)
    found = [_of_owner(rows, open_, stopped) for rows in by_owner.values()]
    return sorted(found, key=lambda one: (-one.stop, -one.by_others, -one.could, one.owner.username))


def _of_owner(
    rows: list[models.Session], open_: Mapping[int, exposure.Exposure], stopped: set[int]
) -> OfOwner:
    could = [open_[row.pk] for row in rows if row.pk not in stopped and open_[row.pk].is_open]
    stop = sum(row.pk in stopped for row in rows)
    by_others = sum(one.by_queues for one in could)
    return OfOwner(rows[0].owner, stop, len(could), by_others, len(rows) - stop - len(could))
