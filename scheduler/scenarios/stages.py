"""Where steps are played: the cast, its simulated cluster, and what lies between two steps."""

from __future__ import annotations

from scheduler import models
from scheduler.scenarios import cast, fields
from scheduler.services import actors, rounds

#: A step is played at most so often, and a case has at most so many steps.
MOST_TIMES = 1000
MOST_STEPS = 10_000


class Stage:
    """A cast that plays steps; keeps what lies between two steps."""

    def __init__(self, who: cast.Cast) -> None:
        self.cast = who
        self.world = who.world
        self.history = who.history
        self.fleet = who.world.fleet
        self.thought: rounds.Thought | None = None

    def session(self, found: fields.Fields) -> models.Session:
        """Return the session that a step names, as it is now."""
        name = found.text("id")
        if name not in self.history.sessions:
            raise found.fault("id", f"names {name}, and no step before brought such a session")
        return self.history.row(name)

    def actor(self, session: models.Session) -> actors.Actor:
        """Return the owner of a session as the one who acts."""
        return actors.of_user(session.owner)
