"""`agent_keys`: the keys of one node, and an end to some of them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import errors, models
from scheduler.services import actors, commands, nodes


class Command(BaseCommand):
    """List the keys of a node's agent, or revoke some: they open nothing from the next message on."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("node", help="name of the node")
        parser.add_argument(
            "--revoke", action="append", default=[], metavar="KEY", help="id of a key; may be repeated"
        )
        parser.add_argument("--reason", default="", help="why, for the record of changes")

    def handle(self, *args: object, **options: Any) -> None:
        """Revoke what was named, then list what there is."""
        node = models.Node.objects.filter(name=options["node"]).first()
        if node is None:
            raise CommandError(f"there is no node {options['node']!r}")
        for key_id in options["revoke"]:
            try:
                nodes.revoke_key(actors.of_command("agent_keys"), node, key_id, reason=options["reason"])
            except errors.Refusal as refusal:
                raise CommandError("; ".join(refusal.fields.values())) from None
        for row in models.AgentKey.objects.filter(node=node).order_by("pk"):
            self.stdout.write(f"{row.key_id}  made {row.created_at:%Y-%m-%d %H:%M} UTC  {_state(row)}")


def _state(row: models.AgentKey) -> str:
    used = models.AgentStatus.objects.filter(node=row.node).values_list("facts", flat=True).first() or {}
    is_used = used.get(commands.KEY_FACT) == row.key_id
    if row.revoked_at is None:
        return "the agent signs with it" if is_used else "valid"
    note = "; its agent has no other yet: agent_enroll makes one" if is_used else ""
    return f"revoked {row.revoked_at:%Y-%m-%d %H:%M} UTC{note}"
