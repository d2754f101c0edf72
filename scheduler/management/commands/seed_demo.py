"""`seed_demo`: a small believable cluster."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from scheduler.demo import seed
from scheduler.services import actors


class Command(BaseCommand):
    """Make the demo's groups, nodes, queues and people, and switch its stream of sessions on."""

    help = __doc__

    def handle(self, *args: object, **options: object) -> None:
        """Add what is missing."""
        seed.seed_demo(actors.of_command("seed_demo"), self.stdout.write)
