"""The options of `submit_trace`, and what they say about sessions."""

from __future__ import annotations

import argparse
import fractions
import pathlib
from collections.abc import Sequence

from scheduler import errors, models
from scheduler.core import entities
from scheduler.traces import openb, plans, room


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare every option."""
    parser.add_argument("file", nargs="?", type=pathlib.Path, help="openb_pods.csv columns, or SWF")
    _declare_replay(parser)
    _declare_sessions(parser)
    _declare_group(parser)


def _declare_replay(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--speed", type=_speed, default="1", help="seconds of the trace in one second here (default 1)")
    add("--last", type=_count, help="only so many of the latest arrivals")
    add("--min-life", type=_milliseconds, default="0", help="seconds that each session lives at least")
    add("--skip-bad", action="store_true", help="pass over malformed lines and count them")
    add("--wait", action="store_true", help="until all ended or can never run; fails if one did not end well")
    add("--agents-limit", type=_count, default=60, help="seconds to wait for the group's agents (default 60)")
    add("--wait-limit", type=_count, default=3600, help="seconds that --wait takes at most (default 3600)")


def _declare_sessions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--group", default="trace", help="resource group to submit to (default trace)")
    queue = "queue of a QoS class or SWF queue number; QUEUE alone: of all others; may be repeated"
    add("--queue", action="append", default=[], metavar="CLASS=QUEUE", help=queue)
    add("--user", help="owner of the sessions (default the first administrator)")
    add(
        "--cores-per-node", type=_count, default=64, help="SWF: a larger job takes several nodes (default 64)"
    )


def _declare_group(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--make-group", action="store_true", help="make the group first, with queues, nodes and agent keys")
    add("--nodes", type=_count, default=2, help="how many nodes it gets (default 2)")
    states = [state.value for state in entities.PreemptionState]
    add("--preemption", choices=states, default="off", help="its preemption switch (default off)")


def plan(options: argparse.Namespace) -> plans.Plan:
    """Return how entries become sessions."""
    queues = {name: room.queue_in(options.group, queue) for name, queue in openb.CLASSES.items()}
    named, others = _split(options.queue)
    return plans.Plan(
        group=options.group,
        queues={} if others else queues,
        other_queue=others or room.queue_in(options.group, "normal"),
        speed=options.speed,
        min_life_ms=options.min_life,
    ).with_queues(named)


def _split(arguments: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the queue of each class that is named, and the queue of all others or nothing."""
    named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    return named, next((argument for argument in arguments if "=" not in argument), "")


def owner(options: argparse.Namespace) -> models.User:
    """
    Return whose sessions these are.

    Raises:
        Refusal: there is no such user.
    """
    users = models.User.objects.filter(is_active=True)
    chosen = users.filter(username=options.user) if options.user else users.filter(is_superuser=True)
    user = chosen.order_by("id").first()
    if user is None:
        raise errors.Refusal(f"there is no active {options.user or 'administrator'}; name a user with --user")
    return user


def _speed(text: str) -> fractions.Fraction:
    try:
        speed = fractions.Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if speed <= 0:
        raise argparse.ArgumentTypeError("must be above zero")
    return speed


def _milliseconds(text: str) -> int:
    try:
        value = fractions.Fraction(text) * 1000
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None
    if value < 0:
        raise argparse.ArgumentTypeError("must not be below zero")
    return int(value)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)
