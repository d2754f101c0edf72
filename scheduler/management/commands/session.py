"""`session`: what an operator does to sessions, from the command line."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import errors, models
from scheduler.services import actors, control

ACTOR = "session"
#: verb -> (what is done, what is said)
ACTS: dict[str, tuple[Callable[..., None], str]] = {
    "cancel": (control.cancel_session, "is being cancelled"),
    "hold": (control.hold_session, "is held"),
    "release": (control.release_session, "is released"),
    "suspend": (control.suspend_session, "is being suspended"),
    "resume": (control.resume_session, "may go on"),
    "requeue": (control.requeue_session, "is going back to the queue"),
}


class Command(BaseCommand):
    """Cancel, hold, release, suspend, resume or requeue sessions; exits 1 when one could not be."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("verb", choices=sorted(ACTS))
        parser.add_argument("id", nargs="+", help="id of a session, as its page shows it")

    def handle(self, *args: object, **options: Any) -> None:
        """Do it to each; one that cannot be does not keep the others from their turn."""
        faults = [fault for name in options["id"] if (fault := self._one(options["verb"], name))]
        if faults:
            raise CommandError("\n".join(faults))

    def _one(self, verb: str, name: str) -> str:
        """Do it to one session; returns what is wrong, or nothing."""
        act, said = ACTS[verb]
        session = _find(name)
        if session is None:
            return f"{name}: there is no such session"
        try:
            act(actors.of_command(ACTOR), session)
        except (errors.Refusal, errors.Staleness) as error:
            return f"{name}: {error}"
        self.stdout.write(f"{name} {said}")
        return ""


def _find(name: str) -> models.Session | None:
    try:
        public_id = uuid.UUID(name)
    except ValueError:
        return None
    return models.Session.objects.filter(public_id=public_id).first()
