"""Who acts: every write names one."""

from __future__ import annotations

import dataclasses
import uuid

from scheduler import models


@dataclasses.dataclass(frozen=True, slots=True)
class Actor:
    """A person, or a part of the machine (``user`` None)."""

    user: models.User | None
    name: str
    request_id: str = ""
    keypair: models.Keypair | None = None  #: shown with the request, where it came through the API

    @property
    def user_id(self) -> int | None:
        """Return the person's id, None for the machine."""
        return self.user.pk if self.user else None

    @property
    def policy(self) -> models.KeypairResourcePolicy | None:
        """Return what the person may ask for this way: the keypair's policy, else the person's own; None = anything."""
        if self.keypair is not None and self.keypair.policy is not None:
            return self.keypair.policy
        return self.user.policy if self.user else None


def with_policies_now(actor: Actor) -> Actor:
    """Return the actor with the policies of person and keypair as they are now, not as the request found them."""
    for holder in (actor.user, actor.keypair):
        if holder is not None and holder.policy_id is not None:
            holder.policy = models.KeypairResourcePolicy.objects.get(pk=holder.policy_id)
    return actor


SYSTEM = Actor(None, "scheduler")


def of_user(user: models.User, *, request_id: str = "", keypair: models.Keypair | None = None) -> Actor:
    """Return the actor for a person who is logged in, or whose keypair was shown."""
    return Actor(user, user.get_username(), request_id, keypair)


#: How the names of actors begin that are management commands.
COMMAND = "command "


def of_command(name: str) -> Actor:
    """Return the actor for a management command run on the controller's own shell, with a request id of its own."""
    return Actor(None, f"{COMMAND}{name}", uuid.uuid4().hex)
