"""
Journal and book together: everything the agent must not forget goes through here, before it acts or speaks.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from scheduler import points
from scheduler.agent import book, journal, records
from scheduler.protocol import codec, messages

_COMPACT_AT = 2000

Number = tuple[str, int]


class Memory:
    """
    Owns the journal; hands each new durable report to `on_report`, each passing one to `on_mention`.

    Attributes:
        book: what is known.
        boot: kernel boot id, the first half of a report's number.
    """

    def __init__(self, file: journal.Journal, *, boot: str) -> None:
        self.book = book.Book()
        self.boot = boot
        self.on_report: Callable[[Number, messages.Report], None] = lambda number, report: None
        self.on_mention: Callable[[messages.Report], object] = lambda report: None
        self._journal = file
        self._sequence = 0

    def load(self) -> None:
        """Replay the journal."""
        for entry in self._journal.open():
            self.book.apply(entry)
        self.book.drop_unfinished()

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def record(self, entry: journal.Entry, *, sync: bool = True) -> None:
        """Write an entry down, then let it count."""
        self._journal.append(entry, sync=sync)
        self.book.apply(entry)
        if entry["kind"] == "stop":
            points.reach("agent.stopping")

    def accept(self, command: messages.Command, *, sync: bool = True) -> None:
        """Write a command down before acting on it."""
        self.record({"kind": "command", "body": codec.encode(command)}, sync=sync)
        points.reach("agent.journaled")

    def report(self, report: messages.Report) -> None:
        """Write a report down and send it, again and again until it is acknowledged."""
        stamped = stamp(report)
        boot, seq = self.next_number()
        self.record({"kind": "report", "boot": boot, "seq": seq, "body": codec.encode(stamped)})
        points.reach("agent.reported")
        self.on_report((boot, seq), stamped)

    def mention(self, report: messages.Report) -> None:
        """Send a report once; nobody has to remember or acknowledge it."""
        self.on_mention(stamp(report))

    def repeat(self, answer: messages.Report) -> None:
        """Give an answer again: the very report while it waits, else a new one with the same content."""
        for number, waiting in self.book.outbox.items():
            if waiting == answer:
                self.on_report(number, waiting)
                return
        boot, seq = self.next_number()
        self.record({"kind": "report", "boot": boot, "seq": seq, "body": codec.encode(answer)})
        self.on_report((boot, seq), answer)

    def acknowledge(self, numbers: tuple[Number, ...]) -> None:
        """Stop sending these reports."""
        known = [list(number) for number in numbers if number in self.book.outbox]
        if known:
            self.record({"kind": "ack", "reports": known}, sync=False)

    def next_number(self) -> Number:
        """
        Return boot id and a sequence higher than any before in this boot, also over restarts of the agent.

        The sequence is the kernel's clock since boot in nanoseconds, so nothing has to be stored for it: one call
        takes longer than that, so numbers given in a burst never run ahead of the clock of the next start.
        """
        self._sequence = max(self._sequence + 1, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        return self.boot, self._sequence

    def compact(self, *, at: int = _COMPACT_AT) -> None:
        """Rewrite the journal as the shortest one with the same meaning, once it has grown to `at` lines."""
        if self._journal.lines >= at:
            self._journal.rewrite(self.book.dump())


def stamp(report: messages.Report) -> messages.Report:
    """Return the report with the time of now, unless it has one."""
    return report if report.at_mono_ms else dataclasses.replace(report, at_mono_ms=records.monotonic_ms())
