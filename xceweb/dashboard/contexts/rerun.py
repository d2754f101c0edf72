"""
A decision run again for one viewer: equal, or what was decided then and what is decided now, side by side.

The whole round is run, from its stored snapshot; all of it is compared, and counted as far as the viewer may see the
sessions. What one was told is shown where its headline may be read. Nothing is written.
"""

from __future__ import annotations

import dataclasses
import enum
import time
from typing import Any

from scheduler import clock, core, models
from scheduler.core import explain, outlines
from scheduler.selectors import explanations, permissions, replays
from xceweb.common import pacing
from xceweb.dashboard.contexts import words

_MOST_ROWS = 50


class State(enum.StrEnum):
    """What came of it."""

    EQUAL = "equal"
    DIFFERS = "differs"
    CANNOT = "cannot"  #: the snapshot is no longer kept, is damaged, or cannot be read


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One session that was told something else."""

    session_id: int
    then: outlines.Told | None
    now: outlines.Told | None


@dataclasses.dataclass(frozen=True, slots=True)
class Rerun:
    """What a viewer may know of a round that was run again."""

    state: State
    why: str = ""  #: of CANNOT
    is_same_version: bool = True
    core_then: str = ""
    is_record_equal: bool = True  #: this decision's record, word for word
    equal: int = 0  #: sessions that the viewer may see and that were told the same
    total: int = 0
    rows: tuple[Row, ...] = ()  #: the others of these
    foreign: tuple[str, ...] = ()  #: policies of other packages that took part
    took_us: int = 0


def run(viewer: models.User, row: models.Decision) -> Rerun:
    """
    Run the round of a decision again.

    Raises:
        TooOften: the viewer did that often just now.
    """
    with pacing.turn("re-run", viewer.pk):
        begun = time.monotonic()
        try:
            found = replays.replay_only_reading(replays.find(str(row.public_id)))
        except replays.CannotReplay as error:
            return Rerun(State.CANNOT, why=str(error))
        return _seen(viewer, row, found, took_us=int((time.monotonic() - begun) * 1_000_000))


def _seen(viewer: models.User, row: models.Decision, found: replays.Replay, *, took_us: int) -> Rerun:
    told = found.told()
    shown = permissions.visible_sessions(viewer).filter(pk__in=told)
    visible = {row.session_id, *shown.values_list("pk", flat=True)} & told.keys()
    rows = [Row(pk, *told[pk]) for pk in sorted(visible) if told[pk][0] != told[pk][1]]
    return Rerun(
        state=State.EQUAL if found.is_equal else State.DIFFERS,
        is_same_version=found.is_same_version,
        core_then=found.round.core_version,
        is_record_equal=str(row.public_id) not in found.changed,
        equal=len(visible) - len(rows),
        total=len(visible),
        rows=tuple(rows),
        foreign=found.foreign,
        took_us=took_us,
    )


def load(viewer: models.User, row: models.Decision) -> dict[str, Any]:
    """Return what ``dashboard/_proof.html`` shows of a re-run; a refusal to run is shown too."""
    try:
        found = run(viewer, row)
    except pacing.errors.TooOften as error:
        found = Rerun(State.CANNOT, why=str(error))
    others = explanations.others(viewer, ids(found))
    shown = readable(row, found, others)
    names = explanations.node_names(node for one in shown for node in node_ids(one))
    return {
        "is_equal": found.state is State.EQUAL,
        "sentence": sentence(found),
        "note": note(found),
        "then_label": f"Then, core {found.core_then}",
        "now_label": f"Now, core {core.CORE_VERSION}",
        "rows": [
            {
                **words.shown(others.get(one.session_id)),
                "then": _told(one.then, names, others),
                "now": _told(one.now, names, others),
            }
            for one in shown[:_MOST_ROWS]
        ],
        "at": clock.now(),
        "took_us": found.took_us,
    }


def readable(row: models.Decision, found: Rerun, others: dict[int, explanations.Other]) -> list[Row]:
    """Return the rows whose headlines the viewer may read; of the preemptor itself, at least that it waits."""
    named = {pk for pk, other in others.items() if other.is_named}
    rows = []
    for one in found.rows:
        if one.session_id in named:
            rows.append(one)
        elif one.session_id == row.session_id:
            rows.append(Row(one.session_id, _veiled(one.then), _veiled(one.now)))
    return rows


def _veiled(told: outlines.Told | None) -> outlines.Told | None:
    return dataclasses.replace(told, reason="") if told is not None else None


def sentence(found: Rerun) -> str:
    """Say what came of it, in one sentence with the numbers."""
    if found.state is State.CANNOT:
        return f"It was not run: {found.why}"
    counted = f"{found.equal} of {found.total} decisions of that round, as far as you may see them,"
    record = "this record word for word" if found.is_record_equal else "but this record is another now"
    if not found.total:
        counted = "what else that round decided was not kept;"
    if found.state is State.EQUAL:
        return f"Equal: {counted} and {record}. {_versions(found)}"
    joint = "and " if found.is_record_equal else ""
    return f"Not equal: {counted} are the same, {joint}{record}. {_versions(found)}"


def _versions(found: Rerun) -> str:
    if found.is_same_version:
        return f"Core version {core.CORE_VERSION}, then and now."
    return f"Core version {found.core_then} then, {core.CORE_VERSION} now."


def note(found: Rerun) -> str:
    """Say what a difference comes from."""
    if found.state is not State.DIFFERS:
        return ""
    hidden = "" if found.rows or not found.is_record_equal else " What differs is not yours to see."
    if found.foreign:
        names = ", ".join(found.foreign)
        return (
            f"Queues of that round name policies of other packages ({names}). Without them, or with another version of "
            f"them, a round comes out otherwise: this says nothing about the scheduler.{hidden}"
        )
    if found.is_same_version:
        return f"The same version must decide the same: please tell an administrator.{hidden}"
    more = f" The first {_MOST_ROWS} are shown." if len(found.rows) > _MOST_ROWS else ""
    return f"Another version of the scheduler may decide otherwise; both are shown.{more}{hidden}"


def node_ids(one: Row) -> list[int]:
    """Return the nodes of which a row speaks."""
    return [node for told in (one.then, one.now) if told is not None for node in told.node_ids]


def ids(found: Rerun) -> set[int]:
    """Return the sessions of which the rows speak."""
    told = [(one.session_id, *(t.victims for t in (one.then, one.now) if t)) for one in found.rows]
    return {pk for pk, *victims in told for pk in (pk, *(v for each in victims for v in each))}


def _told(told: outlines.Told | None, names: dict[int, str], others: dict[int, explanations.Other]) -> str:
    if told is None:
        return "not looked at"
    nodes = ", ".join(names.get(pk, "a node that is gone") for pk in told.node_ids)
    if told.what == "starts":
        return f"starts on {nodes}"
    if told.what == "stops":
        stopped = ", ".join(words.shown(others.get(pk))["label"] for pk in told.victims) or "nobody"
        return f"room is made on {nodes}; stopped: {stopped}"
    where = f" on {nodes}" if nodes else ""
    return f"waits{where}: {explain.pend_title(told.reason)}" if told.reason else f"waits{where}"
