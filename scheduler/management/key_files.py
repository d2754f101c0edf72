"""Key files of agents: written once, readable by their owner alone, never over another."""

from __future__ import annotations

import json
import os
import pathlib

from django.core.management.base import CommandError

from scheduler import models
from scheduler.services import actors, nodes


def enroll(actor: actors.Actor, node: models.Node, path: pathlib.Path) -> None:
    """
    Make a key for a node and write it to a new file.

    Raises:
        CommandError: the file is there already, or its directory cannot be written. No key was made then.
    """
    descriptor = _open_new(path)
    try:
        text = text_of(actor, node)
    except BaseException:
        os.close(descriptor)
        path.unlink()
        raise
    with open(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _open_new(path: pathlib.Path) -> int:
    if path.exists():
        raise CommandError(f"{path} is there already; remove it, or name another with --key-file")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}") from None


def text_of(actor: actors.Actor, node: models.Node) -> str:
    """Make a key for a node; returns the content of its file. It is shown this once."""
    key_id, secret = nodes.enroll_node(actor, node)
    return json.dumps({"node": node.name, "key_id": key_id, "secret": secret}, indent=2) + "\n"


def start_command(node: str, path: str) -> str:
    """Return the command that starts the agent of a node; it runs on that node, in a copy of the project."""
    state = f"{os.path.dirname(path) or '.'}/state"
    return f"BROKER_URL=... python -m scheduler.agent --node {node} --key-file {path} --state-dir {state}"
