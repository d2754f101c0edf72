"""Who acts: every write names one."""

from __future__ import annotations

import dataclasses

from scheduler import models


@dataclasses.dataclass(frozen=True, slots=True)
class Actor:
    """A person, or a part of the machine (``user`` None)."""

    user: models.User | None
    name: str
    request_id: str = ""

    @property
    def user_id(self) -> int | None:
        """Return the person's id, None for the machine."""
        return self.user.pk if self.user else None


SYSTEM = Actor(None, "scheduler")


def of_user(user: models.User, *, request_id: str = "") -> Actor:
    """Return the actor for a person who is logged in, or whose keypair was shown."""
    return Actor(user, user.get_username(), request_id)


def of_command(name: str) -> Actor:
    """Return the actor for a management command run on the controller's own shell."""
    return Actor(None, f"command {name}")
