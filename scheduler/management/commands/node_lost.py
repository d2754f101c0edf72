"""`node_lost`: declare a silent node lost."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import errors, models
from scheduler.services import actors, lost_nodes


class Command(BaseCommand):
    """Declare a silent node lost: its sessions end or wait anew, its slots are free, and it is down."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("node", help="name of the node")
        parser.add_argument("--reason", required=True, help="why; goes into the audit")

    def handle(self, *args: object, **options: Any) -> None:
        """Declare it, audited under the name of this command."""
        node = models.Node.objects.filter(name=options["node"]).first()
        if node is None:
            raise CommandError(f"there is no node {options['node']!r}")
        held = node.allocations.count()
        try:
            lost_nodes.declare_lost(actors.of_command("node_lost"), node, reason=options["reason"])
        except errors.Refusal as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"{node.name} is down; {held} sessions are counted lost or wait anew")
