"""One action on many sessions, each in a transaction of its own: what is refused of one stops no other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

from scheduler import errors, models
from scheduler.services import actors, control

#: Sessions of one request; each costs its own locks and commit.
MOST = 500
Act = Callable[[actors.Actor, models.Session, str], None]
#: What may be done to a session, with a reason where it takes one.
ACTIONS: Mapping[str, Act] = {
    "cancel": lambda actor, row, reason: control.cancel_session(actor, row, reason=reason),
    "hold": lambda actor, row, reason: control.hold_session(actor, row),
    "release": lambda actor, row, reason: control.release_session(actor, row),
    "suspend": lambda actor, row, reason: control.suspend_session(actor, row),
    "resume": lambda actor, row, reason: control.resume_session(actor, row),
    "requeue": lambda actor, row, reason: control.requeue_session(actor, row),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one session's part: ``refusal`` says why nothing was done, empty where it was."""

    session: models.Session
    refusal: str = ""


def act(
    actor: actors.Actor, sessions: Iterable[models.Session], action: str, *, reason: str = ""
) -> list[Outcome]:
    """
    Do one thing of ``ACTIONS`` to each session, in their order.

    Raises:
        Refusal: more than ``MOST`` sessions; nothing is done then.
    """
    rows = list(sessions)
    if len(rows) > MOST:
        raise errors.Refusal(f"{len(rows)} sessions are too many at once; at most {MOST} are taken.")
    return [Outcome(row, _refusal(actor, row, (action, reason))) for row in rows]


def _refusal(actor: actors.Actor, row: models.Session, what: tuple[str, str]) -> str:
    action, reason = what
    try:
        ACTIONS[action](actor, row, reason)
    except errors.Refusal as refusal:
        return str(refusal)
    return ""
