"""
What would have spared a victim, and what would help a waiting session, as far as one viewer may know.

Computed when somebody asks, by running rounds again on the stored snapshot of the decision or on the present
state; no row is written or locked, no round waits for it, and whatever fails here is said as such. An answer
that shows a session which the viewer may not see is left out without a word. Source: DESIGN 7, 9.
"""

from __future__ import annotations

import dataclasses
import enum
import logging
import time
from collections.abc import Callable

from scheduler import models
from scheduler.core import stored
from scheduler.core.counterfactuals import answers, reruns, victims, waiting
from scheduler.selectors import permissions, slot_kinds, stored_rounds
from scheduler.selectors import snapshot as snapshots

_log = logging.getLogger("xce.explanations")

#: Seconds that one explanation may take; what has been found by then is shown.
MOST_S = 2.0


class State(enum.StrEnum):
    """How far the question could be answered."""

    FOUND = "found"
    NOT_KEPT = "not-kept"  #: the snapshot of the decision is no longer stored
    DIFFERS = "differs"  #: unchanged, the round now comes out otherwise: another version of the core
    FAILED = "failed"


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """The answers that a viewer may read."""

    state: State
    answers: tuple[answers.Counterfactual, ...] = ()
    is_complete: bool = True


def for_victim(viewer: models.User, victim: models.Victim) -> Told:
    """
    Return what would have spared a session that a decision stopped.

    Internal: the caller has asked for the sight of the session. Two queries.
    """
    return _guarded(lambda: _for_victim(viewer, victim))


def for_waiting(viewer: models.User, session: models.Session) -> Told:
    """
    Return what would help a pending session now.

    Internal: the caller has asked for the sight of the session. At most 21 queries.
    """
    return _guarded(lambda: _for_waiting(viewer, session))


def _guarded(ask: Callable[[], Told]) -> Told:
    try:
        return ask()
    except Exception:  # noqa: BLE001 - whatever is wrong with an explanation: the page stands
        _log.exception("counterfactuals could not be computed")
        return Told(State.FAILED)


def _for_victim(viewer: models.User, victim: models.Victim) -> Told:
    plain = stored_rounds.plain_snapshot(victim.decision)
    if plain is None:
        return Told(State.NOT_KEPT)
    view = stored.from_plain(plain)
    found = victims.spared(view, victim.session_id, victim.decision.session_id, rounds=_rounds())
    return _told(viewer, found)


def _for_waiting(viewer: models.User, session: models.Session) -> Told:
    view = snapshots.load_snapshot(session.group).snapshot
    if session.pk not in {one.id for one in view.sessions}:
        return Told(State.FOUND)
    seen = _visible(viewer, {one.id for one in view.sessions})
    about = waiting.About(session.priority_cap, slot_kinds.load(), seen)
    return _told(viewer, waiting.would_help(view, session.pk, rounds=_rounds(), about=about))


def _rounds() -> reruns.Rounds:
    end = time.monotonic() + MOST_S
    return reruns.Rounds(may_go_on=lambda: time.monotonic() < end)


def _told(viewer: models.User, found: answers.Answers) -> Told:
    if not found.is_same:
        return Told(State.DIFFERS)
    shown: set[int] = set().union(*(one.rests_on for one in found.found))
    seen = _visible(viewer, shown)
    kept = tuple(one for one in found.found if one.rests_on <= seen)
    return Told(State.FOUND, kept, found.is_complete)


def _visible(viewer: models.User, ids: set[int]) -> set[int]:
    rows = permissions.visible_sessions(viewer).filter(pk__in=ids)
    return set(rows.values_list("pk", flat=True)) if ids else set()
