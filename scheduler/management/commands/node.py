"""`node`: drain a node or make it ready again, and see before what draining means."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import errors, models
from scheduler.selectors import drains
from scheduler.services import actors, nodes

ACTOR = "node"
STATES = {"drain": "draining", "ready": "ready"}


class Command(BaseCommand):
    """Drain a node, make it ready, or print what draining it would mean; `node_lost` declares one lost."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("verb", choices=("preview", *STATES))
        parser.add_argument("node", help="name of the node")
        parser.add_argument("--reason", default="", help="why; drain and ready need it")

    def handle(self, *args: object, **options: Any) -> None:
        """Do it, audited under the name of this command."""
        node = models.Node.objects.filter(name=options["node"]).select_related("group").first()
        if node is None:
            raise CommandError(f"there is no node {options['node']!r}")
        if options["verb"] == "preview":
            self.stdout.write("\n".join(_lines(drains.preview(node))))
            return
        try:
            state = STATES[options["verb"]]
            nodes.set_node_state(actors.of_command(ACTOR), node, state=state, reason=options["reason"])
        except errors.Refusal as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"{node.name} is {state}")


def _lines(found: drains.Preview) -> list[str]:
    end = f", the last until {found.last_end:%Y-%m-%d %H:%M:%S} UTC" if found.last_end else ""
    return [
        f"{found.active:>6} sessions go on{end}",
        f"{found.suspended:>6} are suspended there and may resume all the same",
        f"{found.under_way:>6} preemptions and waits for room there are taken back, where that can still be",
        f"{found.stranded:>6} waiting sessions could start on no other node that is ready",
    ]
