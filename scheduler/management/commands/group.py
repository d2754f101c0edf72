"""`group`: stop starting, start again, or take back all preemptions under way."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import errors, models
from scheduler.services import actors, emergency

ACTOR = "group"
VERBS = ("stop-starting", "start-again", "withdraw-all")


class Command(BaseCommand):
    """Act on one resource group in an emergency; what runs goes on."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("verb", choices=VERBS)
        parser.add_argument("group", help="name of the resource group")
        parser.add_argument("--reason", required=True, help="why; everybody who is affected reads it")

    def handle(self, *args: object, **options: Any) -> None:
        """Do it, audited under the name of this command."""
        group = models.ResourceGroup.objects.filter(slug=options["group"]).first()
        if group is None:
            raise CommandError(f"there is no group {options['group']!r}")
        try:
            self.stdout.write(_act(options["verb"], group, options["reason"]))
        except (errors.Refusal, errors.Staleness) as error:
            raise CommandError(str(error)) from None


def _act(verb: str, group: models.ResourceGroup, reason: str) -> str:
    actor = actors.of_command(ACTOR)
    if verb == "withdraw-all":
        count = emergency.withdraw_all(actor, group, reason=reason)
        return f"{group.slug}: {count} taken back, of preemptions and waits under way"
    if verb == "stop-starting":
        emergency.stop_starting(actor, group, reason=reason)
        return f"{group.slug} starts nothing new"
    emergency.start_again(actor, group, reason=reason)
    return f"{group.slug} starts sessions again"
