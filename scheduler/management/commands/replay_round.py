"""`replay_round ID`: run a stored round again from its stored snapshot, and compare the decisions."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import core
from scheduler.selectors import replays

_CANNOT = 2


class Command(BaseCommand):
    """Run a stored round again: equal by the same core version, shown side by side by another."""

    requires_system_checks: list[str] = []
    help = (
        "Run a stored round again from its stored snapshot. Exits 0 when the decisions are equal, or when they were "
        "made by another version of the core, whose decisions are then shown side by side; 1 when the same version "
        "decides otherwise; 2 when the round cannot be run again."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the argument."""
        parser.add_argument("id", metavar="ID", help="the round's id, GROUP/NUMBER, or the id of a decision")

    def handle(self, *args: object, **options: Any) -> None:
        """Run it and say what came out."""
        try:
            found = replays.replay(replays.find(options["id"]))
        except replays.CannotReplay as error:
            raise CommandError(str(error), returncode=_CANNOT) from None
        name = f"round {found.round.group.slug}/{found.round.number}"
        self.stdout.write(f"{name} of {found.round.at:%Y-%m-%d %H:%M:%S} UTC, {_counts(found.now)}")
        if found.is_equal:
            self.stdout.write(_equal(found))
            return
        then, now = f"core {found.round.core_version}, then", f"core {core.CORE_VERSION}, now"
        self.stdout.write(f"{then} | {now}")
        for line in _side_by_side(found):
            self.stdout.write(line)
        if found.is_same_version:
            raise CommandError(f"{name}: the same core version decides otherwise", returncode=1)


def _equal(found: replays.Replay) -> str:
    versions = f"core version {core.CORE_VERSION}"
    if not found.is_same_version:
        versions = f"core version {found.round.core_version} then, {core.CORE_VERSION} now"
    what = "all decisions" if found.then is not None else "the stored decisions (the others were not kept)"
    return f"equal: {what}; {versions}"


def _counts(outline: Mapping[str, Any]) -> str:
    pends = sum(len(ids) for ids in outline["pend"].values())
    return f"{len(outline['dispatch'])} dispatched, {pends} waiting, {len(outline['preempt'])} preempting"


def _side_by_side(found: replays.Replay) -> Iterator[str]:
    """Yield a line for each session that is decided otherwise, then one for each record that is another."""
    then, now = _by_session(found.then or {}), _by_session(found.now)
    if found.then is not None:
        for session in sorted(then.keys() | now.keys(), key=int):
            left, right = then.get(session, "nothing"), now.get(session, "nothing")
            if left != right:
                yield f"session {session}: {left} | {right}"
    for public_id in found.changed:
        yield f"decision {public_id}: its record is another now"


def _by_session(outline: Mapping[str, Any]) -> dict[str, str]:
    """Return session -> what was decided, in a few words."""
    words: dict[str, str] = {}
    for reason, ids in outline.get("pend", {}).items():
        words.update({str(session): f"waits: {reason}" for session in ids})
    for session, node in outline.get("wait", {}).items():
        words[session] = f"{words.get(session, 'waits')} on node {node}"
    for session, nodes in outline.get("dispatch", {}).items():
        words[session] = f"starts on node {_ids(nodes)}"
    stops = itertools.chain(outline.get("preempt", {}).items(), outline.get("shadow", {}).items())
    for session, stop in stops:
        words[session] = f"stops {_ids(stop['victims'])} on node {stop['node']}, axis {stop['axis']}"
    return words


def _ids(ids: list[int]) -> str:
    return ", ".join(str(each) for each in ids)
