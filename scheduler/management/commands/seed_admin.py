"""`seed_admin`: what an installation without the demo begins with."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from scheduler.demo import seed
from scheduler.services import actors


class Command(BaseCommand):
    """Make one administrator with a generated password, unless there is an administrator."""

    help = __doc__

    def handle(self, *args: object, **options: object) -> None:
        """Add what is missing."""
        seed.seed_administrator(actors.of_command("seed_admin"), self.stdout.write)
