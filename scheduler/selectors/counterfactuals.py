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
from collections.abc import Callable, Mapping
from typing import Any

from scheduler import models
from scheduler.core import plain as core_plain
from scheduler.core import snapshot as core_snapshot
from scheduler.core.counterfactuals import answers, reruns, victims, waiting
from scheduler.core.preemption import shipped
from scheduler.plugins import asking, catalog
from scheduler.selectors import explanations, permissions, slot_kinds, stored_rounds
from scheduler.selectors import snapshot as snapshots

_log = logging.getLogger("xce.explanations")

#: Seconds that one explanation may take; what has been found by then is shown.
MOST_S = 2.0


class State(enum.StrEnum):
    """How far the question could be answered."""

    FOUND = "found"
    NOT_KEPT = "not-kept"  #: the snapshot of the decision is no longer stored
    DIFFERS = "differs"  #: unchanged, the round now comes out otherwise: another version of the core
    POLICY = "policy"  #: it hangs on a policy of another package that is gone, is another now, or failed when asked
    FAILED = "failed"


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """The answers that a viewer may read."""

    state: State
    answers: tuple[answers.Counterfactual, ...] = ()
    is_complete: bool = True
    policies: tuple[
        str, ...
    ] = ()  #: those of other packages that took part, or for which it could not be computed


def for_victim(viewer: models.User, victim: models.Victim) -> Told:
    """
    Return what would have spared a session that a decision stopped.

    Internal: the caller has asked for the sight of the session. Four queries.
    """
    return _guarded(lambda: _for_victim(viewer, victim))


def for_waiting(viewer: models.User, session: models.Session) -> Told:
    """
    Return what would help a pending session now.

    Internal: the caller has asked for the sight of the session. At most 24 queries.
    """
    return _guarded(lambda: _for_waiting(viewer, session))


def weighed(session: models.Session) -> tuple[bool, list[dict[str, Any]]] | None:
    """
    Return whether a round on the present state has room for a pending session, and the candidates as stored views.

    For a session whose verdicts no round kept, since there were too many of others. None where it failed. Internal:
    the caller leaves out whom the viewer may not see. At most 22 queries.
    """
    fate = _fate_now(session)
    return None if fate is None else (fate.has_room, core_snapshot.to_plain(fate.candidates))


def nodes_now(session: models.Session) -> list[dict[str, Any]]:
    """
    Return the nodes as a round on the present state finds them for a pending session, as stored views.

    For a session whose nodes no round kept, since there were too many of others. Empty where it failed. At most 22
    queries.
    """
    fate = _fate_now(session)
    found: list[dict[str, Any]] = [] if fate is None else core_snapshot.to_plain(fate.nodes)
    return found


def _fate_now(session: models.Session) -> reruns.Fate | None:
    """Return what a round on the present state does for a pending session; None where that cannot be told."""
    try:
        view = snapshots.load_snapshot(session.group).snapshot
        return _rounds(_named(view)).of_waiting(view, session.pk)
    except reruns.PolicyUnsure:
        return None
    except Exception:  # noqa: BLE001 - whatever is wrong with an explanation: the page stands
        _log.exception("a round could not be run again for an explanation")
        return None


def _guarded(ask: Callable[[], Told]) -> Told:
    try:
        return ask()
    except reruns.PolicyUnsure as error:
        return Told(State.POLICY, policies=(str(error),))
    except Exception:  # noqa: BLE001 - whatever is wrong with an explanation: the page stands
        _log.exception("counterfactuals could not be computed")
        return Told(State.FAILED)


def _for_victim(viewer: models.User, victim: models.Victim) -> Told:
    plain = stored_rounds.plain_snapshot(victim.decision)
    if plain is None:
        return Told(State.NOT_KEPT)
    view = core_plain.to_snapshot(plain)
    named = _named(view)
    found = victims.spared(view, victim.session_id, victim.decision.session_id, rounds=_rounds(named))
    return _told(viewer, found, named)


def _for_waiting(viewer: models.User, session: models.Session) -> Told:
    view = snapshots.load_snapshot(session.group).snapshot
    ids = {one.id for one in view.sessions}
    if session.pk not in ids:
        return Told(State.FOUND)
    seen = set(permissions.visible_sessions(viewer).filter(pk__in=ids).values_list("pk", flat=True))
    about = waiting.About(session.priority_cap, slot_kinds.load(), seen)
    named = _named(view)
    found = waiting.would_help(view, session.pk, rounds=_rounds(named), about=about)
    return _told(viewer, found, named)


def _named(view: core_snapshot.Snapshot) -> tuple[str, ...]:
    """Return the policies of other packages that queues of a snapshot name."""
    names = {queue.preempt_policy for queue in view.queues if queue.preempt_policy}
    return tuple(sorted(names - set(shipped.FOR_QUEUES)))


def _rounds(named: tuple[str, ...]) -> reruns.Rounds:
    """Return rounds that ask policies of other packages as every round does: guarded, in processes of their own."""
    end = time.monotonic() + MOST_S
    return reruns.Rounds(
        may_go_on=lambda: time.monotonic() < end,
        policies_for=asking.policies_for,
        foreign=set(named) - catalog.faults(set(named)).keys(),
    )


def _told(viewer: models.User, found: answers.Answers, named: tuple[str, ...]) -> Told:
    if not found.is_same:
        return Told(State.POLICY if named else State.DIFFERS, policies=named)
    others = explanations.others(viewer, _spoken_of(found))
    kept = [one for one in found.found if _may_read(others, one)]
    if named:
        kept = [sure for one in kept if (sure := _sure(one)) is not None]
    if any(one.kind is answers.Kind.HIGHER_PRIORITY for one in kept):
        kept = [one for one in kept if one.kind is not answers.Kind.PRIORITY_AT_CAP]
    return Told(State.FOUND, tuple(kept), found.is_complete, named)


#: Questions to which one trial is the whole answer, or all there are were made.
_TRIED_WHOLE = frozenset(
    {
        answers.Kind.SPARED_OPT_OUT,
        answers.Kind.STARTS_ON_FEWER_NODES,
        answers.Kind.PREEMPTION_ON,
    }
)
_RANKS = frozenset({answers.Kind.SPARED_JOB_PRIORITY, answers.Kind.SPARED_PRIORITY})


def _sure(one: answers.Counterfactual) -> answers.Counterfactual | None:
    """
    Return what is known of an answer where a foreign policy took part: the very values that were tried, no ranges.

    That a result turns once from value to value is proved for the policies of the core alone.
    """
    if one.kind in _RANKS and one.helps:
        return dataclasses.replace(one, facts={**one.facts, "most": one.facts["value"]})
    return one if one.helps or one.kind in _TRIED_WHOLE else None


def _spoken_of(found: answers.Answers) -> set[int]:
    return {pk for one in found.found for pk in one.rests_on | one.ranks_of}


def _may_read(others: Mapping[int, explanations.Other], one: answers.Counterfactual) -> bool:
    """Say whether the viewer sees all whose part in it the answer shows, and the ranks that it gives away."""
    is_seen = all(pk in others and others[pk].sight > permissions.Sight.NONE for pk in one.rests_on)
    return is_seen and all(pk in others and others[pk].is_named for pk in one.ranks_of)
