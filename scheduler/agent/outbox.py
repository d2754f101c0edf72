"""
When which report is sent again, and in which version of the protocol: at once when new, then with growing pauses
until the controller acknowledges it.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from typing import Protocol

from scheduler.agent import memory, records
from scheduler.protocol import errors, messages, signing

log = logging.getLogger(__name__)

_LONGEST_MS = 60_000
#: Heartbeats whose acknowledgement may still come.
_BEATS = 200
#: Reports that the next one of their kind makes worthless. A controller that comes back after a long time has
#: thousands of them before it and passes the oldest over unread.
_PASSING = (messages.Heartbeat,)
#: Always said in the first version, so that a controller of any version knows who lives and what it speaks.
_GREETINGS = (messages.Hello, messages.Heartbeat)


class Send(Protocol):
    """Hands one signed text to the transport."""

    def __call__(self, text: str, *, expires_s: int | None = None) -> None:
        """Send it soon; after ``expires_s`` seconds (None = never) nobody needs to read it any more."""


@dataclasses.dataclass
class _Wait:
    due_ms: int
    pause_ms: int


class Outbox:
    """
    Signs reports and passes them to the transport; never blocks.

    Attributes:
        key: what it signs with; may be replaced at any time.
    """

    def __init__(self, store: memory.Memory, *, key: signing.NodeKey, send: Send, pause_ms: int) -> None:
        self._store = store
        self.key = key
        self._send = send
        self._pause_ms = pause_ms
        self._waits: dict[memory.Number, _Wait] = {}
        self._version = messages.FIRST
        self._beats: dict[memory.Number, int] = {}
        #: Called with the numbers of reports that were heard.
        self.on_acknowledged: Callable[[tuple[memory.Number, ...]], None] = lambda numbers: None
        #: Called with the moment at which a heartbeat that was heard had been sent, in ms.
        self.on_heard: Callable[[int], None] = lambda sent_ms: None
        store.on_report = self._send_durable
        store.on_mention = self.send_once

    def acknowledged(self, numbers: tuple[memory.Number, ...]) -> None:
        """Take note of reports that were heard: of heartbeats the moment of sending counts (see `fencing`)."""
        sent = [self._beats.pop(number) for number in numbers if number in self._beats]
        if sent:
            self.on_heard(max(sent))
        self.on_acknowledged(numbers)

    def heard(self, version: int) -> None:
        """Take note of the version in which the controller speaks: it is answered in the same."""
        self._version = version

    def send_once(self, report: messages.Report) -> memory.Number:
        """Send a report that the next one of its kind replaces: hello, heartbeat, tail, page. Returns its number."""
        number = self._store.next_number()
        if isinstance(report, messages.Heartbeat):
            self._beats = dict([*self._beats.items(), (number, records.monotonic_ms())][-_BEATS:])
        self._seal(number, memory.stamp(report))
        return number

    def resend(self, *, everything: bool = False) -> None:
        """Send what is due, or everything that waits (after a reconnect), in its order."""
        now = records.monotonic_ms()
        waiting = self._store.book.outbox
        self._waits = {number: wait for number, wait in self._waits.items() if number in waiting}
        for number, report in list(waiting.items()):
            wait = self._waits.setdefault(number, _Wait(now + self._pause_ms, self._pause_ms))
            if everything or wait.due_ms <= now:
                is_last_resort = wait.pause_ms >= _LONGEST_MS
                wait.due_ms, wait.pause_ms = now + wait.pause_ms, min(_LONGEST_MS, wait.pause_ms * 2)
                self._seal(number, report, is_last_resort=is_last_resort)

    def _send_durable(self, number: memory.Number, report: messages.Report) -> None:
        self._waits[number] = _Wait(records.monotonic_ms() + self._pause_ms, self._pause_ms * 2)
        self._seal(number, report)

    def _seal(self, number: memory.Number, report: messages.Report, *, is_last_resort: bool = False) -> None:
        """
        Sign and send. A report that nobody acknowledges falls back to the first version: the controller may have
        been replaced by an older one, which knows no other.
        """
        boot, seq = number
        is_first = is_last_resort or isinstance(report, _GREETINGS)
        version = messages.FIRST if is_first else self._version
        try:
            text = signing.seal(report, key=self.key, boot=boot, seq=seq, version=version)
        except errors.ProtocolError as fault:
            if fault.code != "needs-version":
                raise
            log.warning("a report waits for a newer controller: %s", fault)
            return
        self._send(text, expires_s=messages.PASSING_S if isinstance(report, _PASSING) else None)
