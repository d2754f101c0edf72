"""
Every typed error of the Django side.

Families: refusals (the user can act on them), staleness (retry or drop, never alarm), violations (a bug: alarm, the
transaction rolls back), environment (something outside is away). The family decides log level and HTTP status.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class XceError(Exception):
    """Something went wrong in XCE Web."""

    code = "error"
    status = 500

    def __init__(self, message: str = "", **facts: Any) -> None:
        super().__init__(message or (self.__doc__ or "").strip())
        self.facts = facts


class Refusal(XceError):
    """This cannot be done as asked."""

    code = "refused"
    status = 400

    def __init__(
        self, message: str = "", *, code: str = "", fields: Mapping[str, str] | None = None, **facts: Any
    ) -> None:
        self.fields = dict(fields or {})
        super().__init__(message or " ".join(self.fields.values()), **facts)
        self.code = code or type(self).code


class NotVisible(Refusal):
    """There is no such thing, or you may not see it."""

    code = "not-found"
    status = 404


class NotAllowed(Refusal):
    """You may see this, but not change it."""

    code = "not-allowed"
    status = 403


class Conflict(Refusal):
    """Somebody changed it meanwhile: look at the difference and decide again."""

    code = "conflict"
    status = 409


class TooOften(Refusal):
    """This was asked for too often: wait a moment."""

    code = "too-often"
    status = 429


class Staleness(XceError):
    """The ground moved between the look and the act; nothing was written."""

    code = "stale"
    status = 409


class StaleState(Staleness):
    """The session is no longer as it was seen."""

    code = "stale-state"


class Violation(XceError):
    """An invariant does not hold: this is a bug of XCE Web."""

    code = "violation"


class Environment(XceError):
    """A part outside the database is away."""

    code = "environment"
    status = 503
