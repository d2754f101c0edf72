"""`agent_enroll`: a key for the agent of one node."""

from __future__ import annotations

import pathlib
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import models
from scheduler.management import key_files
from scheduler.services import actors


class Command(BaseCommand):
    """Make a key for the agent of a node, and write it to a file or show it once."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("node", help="name of the node")
        parser.add_argument("--key-file", type=pathlib.Path, help="new file for the key (mode 0600)")

    def handle(self, *args: object, **options: Any) -> None:
        """Enroll; an older key of the node stays valid until it is revoked."""
        node = _node(options["node"])
        actor = actors.of_command("agent_enroll")
        path = options["key_file"]
        if path is not None:
            key_files.enroll(actor, node, path)
        else:
            self.stdout.write("Put this into a file key.json on the node (mode 0600); it is shown once:\n")
            self.stdout.write(key_files.text_of(actor, node))
        self.stdout.write(f"start it by: {key_files.start_command(node.name, str(path or 'key.json'))}")


def _node(name: str) -> models.Node:
    node = models.Node.objects.filter(name=name).first()
    if node is None:
        known = ", ".join(models.Node.objects.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"there is no node {name!r}; known nodes: {known}")
    return node
