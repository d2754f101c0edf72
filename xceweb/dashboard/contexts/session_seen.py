"""One session with the person who looks at it: what every part of its page starts from."""

from __future__ import annotations

import dataclasses

from scheduler import models
from scheduler.selectors import event_log, explanations, permissions, slot_kinds


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """One session, who looks, with which sight, and what explains it."""

    viewer: models.User
    session: models.Session
    sight: permissions.Sight
    kinds: dict[str, slot_kinds.Kind]
    stops: list[models.Victim]
    entries: list[event_log.Entry]
    #: First byte of the page of output that is looked at; None = the last lines.
    offset: int | None = None
    #: Place of the node whose output is looked at.
    rank: int = 0

    @property
    def is_open(self) -> bool:
        """Say whether more than the summary may be shown."""
        return self.sight >= permissions.Sight.OPERATIONS

    @property
    def name(self) -> str:
        """Return the name, or what stands for it."""
        return self.session.name if self.is_open else "A session"


def look(viewer: models.User, session: models.Session) -> Seen:
    """Read what every tab of the page needs. Five queries."""
    sight = permissions.sight(viewer, session)
    stops = explanations.stops(session) if sight >= permissions.Sight.OPERATIONS else []
    return Seen(viewer, session, sight, slot_kinds.load(), stops, event_log.of_session(session))
