"""`queue`: show a queue, change its rules, or remove one that has no sessions."""

from __future__ import annotations

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import errors, models
from scheduler.selectors import queue_rules, rule_warnings
from scheduler.services import actors, queues

ACTOR = "queue"


class Command(BaseCommand):
    """Work on the rules of one queue."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        add = parser.add_argument
        add("verb", choices=tuple(_ACTS))
        add("queue", help="name of the queue")
        text = 'a field and its value, as JSON or a word: state=stopped, preemptible_queues=["low"]; may be repeated'
        add("--field", action="append", default=[], type=_field, metavar="NAME=VALUE", help=text)
        add("--reason", default="", help="why; it is kept with the change")
        add("--expect", type=int, metavar="VERSION", help="only if this version is in force")

    def handle(self, *args: object, **options: Any) -> None:
        """Do it, audited under the name of this command."""
        queue = models.Queue.objects.filter(slug=options["queue"]).first()
        if queue is None:
            raise CommandError(f"there is no queue {options['queue']!r}")
        try:
            self.stdout.write(_ACTS[options["verb"]](queue, options))
        except errors.Refusal as refusal:
            told = "; ".join(f"{name}: {text}" for name, text in refusal.fields.items())
            raise CommandError(told or str(refusal)) from None


def _field(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or name not in queues.FIELDS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of: {', '.join(queues.FIELDS)}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _show(queue: models.Queue, options: dict[str, Any]) -> str:
    lines = [f"version {queue.version}, by {queue.changed_by_name or 'nobody'}"]
    return "\n".join(
        [*lines, *(f"{name} = {json.dumps(queues.value_of(queue, name))}" for name in queues.FIELDS)]
    )


def _set(queue: models.Queue, options: dict[str, Any]) -> str:
    row = queues.change_queue(
        actors.of_command(ACTOR),
        queue,
        changes=dict(options["field"]),
        reason=options["reason"],
        expected_version=options["expect"],
    )
    cycles = [cycle for cycle in queue_rules.cycles(queue_rules.everybodys()) if row.slug in cycle]
    lines = [f"careful: {rule_warnings.of_cycle(cycle).text.replace('**', '')}" for cycle in cycles]
    return "\n".join([*lines, f"{row.slug}: version {row.version} is in force"])


def _remove(queue: models.Queue, options: dict[str, Any]) -> str:
    queues.remove_queue(
        actors.of_command(ACTOR), queue, reason=options["reason"], expected_version=options["expect"]
    )
    return f"{queue.slug} is removed"


_ACTS = {"show": _show, "set": _set, "remove": _remove}
