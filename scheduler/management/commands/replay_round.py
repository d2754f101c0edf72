"""`replay_round ID`: run a stored round again from its stored snapshot, and compare the decisions."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import core
from scheduler.core import outlines
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
        if found.foreign:
            named = ", ".join(found.foreign)
            raise CommandError(
                f"{name}: its queues name policies of other packages ({named}); without them, or with another version "
                "of them, a round comes out otherwise",
                returncode=_CANNOT,
            )
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
    for session, (then, now) in found.told().items():
        if then != now:
            yield f"session {session}: {_words(then)} | {_words(now)}"
    for public_id in found.changed:
        yield f"decision {public_id}: its record is another now"


def _words(told: outlines.Told | None) -> str:
    """Say what was decided for one session, in a few words."""
    if told is None:
        return "nothing"
    nodes = _ids(told.node_ids)
    if told.what == "stops":
        return f"stops {_ids(told.victims)} on node {nodes}, axis {told.axis}"
    if told.what == "starts":
        return f"starts on node {nodes}"
    return f"waits: {told.reason} on node {nodes}" if nodes else f"waits: {told.reason}"


def _ids(ids: Iterable[int]) -> str:
    return ", ".join(str(each) for each in ids)
