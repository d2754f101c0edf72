"""One line of why for each session in a list; the whole explanation is the session page's."""

from __future__ import annotations

from django.db.models import Q

from scheduler import models
from scheduler.core import decisions, explain, states
from scheduler.selectors import signal_names

_S, _R = states.SessionState, decisions.PendReason
_PLAIN = {
    _S.SCHEDULED.value: "being started",
    _S.RUNNING.value: "",
    _S.PREEMPTED.value: "being stopped to make room for a session before it",
    _S.STOPPING.value: "being stopped as asked",
    _S.TERMINATING.value: "being ended",
}
_ENDED = {
    states.Result.SUCCESS.value: "",
    states.Result.CANCELLED.value: "cancelled",
    states.Result.PREEMPTED.value: "stopped to make room; does not start again by itself",
    states.Result.TIMEOUT.value: "reached its time limit",
    states.Result.LOST.value: "its node was lost",
}


def line(session: models.Session) -> str:
    """Return why a session is where it is, in a few words; empty where the state says it all."""
    text = _line(session)
    return text[:1].upper() + text[1:]


def _line(session: models.Session) -> str:
    if session.state == _S.PENDING.value:
        return _pending(session)
    if session.state == _S.SUSPENDED.value:
        return _suspended(session)
    if session.state == _S.SCHEDULED.value and session.is_resume:
        return "being resumed"
    if session.state == _S.TERMINATED.value:
        return _ended(session)
    return _PLAIN.get(session.state, "")


def _pending(session: models.Session) -> str:
    reason = getattr(session, "pend_reason", None)
    return explain.pend_title(headline(reason.reason if reason else None, is_held=session.is_held))


def headline(recorded: str | None, *, is_held: bool) -> str:
    """Return why a session waits: as the last round recorded it, but held as soon as it is held."""
    return _R.HELD.value if is_held else recorded or _R.NOT_EVALUATED.value


def waits_for(reason: str) -> Q:
    """Return which sessions wait with this headline."""
    pending = Q(state=_S.PENDING.value)
    if reason == _R.HELD:
        return pending & Q(is_held=True)
    recorded = Q(pend_reason__reason=reason)
    if reason == _R.NOT_EVALUATED:
        recorded |= Q(pend_reason=None)
    return pending & Q(is_held=False) & recorded


def _suspended(session: models.Session) -> str:
    if session.is_held:
        return "suspended by a person; goes on after a release"
    return "suspended to make room; goes on by itself"


def _ended(session: models.Session) -> str:
    if session.result == states.Result.FAILURE.value:
        if session.exit_signal:
            return f"ended by **{signal_names.of(session.exit_signal)}**"
        return "failed" if session.exit_code is None else f"exit code **{session.exit_code}**"
    return _ENDED.get(session.result, "")
