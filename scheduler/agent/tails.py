"""
Whose last lines of output are sent next: one report of them is under way at a time, whatever the sessions write.

Live output comes a hundred times as often as all else that an agent says. A controller that falls behind would have
minutes of it before every start and end, which are what matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler.agent import life, memory, output, records
from scheduler.protocol import messages


class Tails:
    """
    Sends last lines in turn, the next when those before were heard.

    Args:
        lives: the runs of the agent, by session.
        send: sends a report once and returns its number.
        patience_ms: what has not been heard for so long is lost, or the controller does not say what it hears.
    """

    def __init__(
        self,
        lives: Mapping[str, life.Life],
        send: Callable[[messages.Report], memory.Number],
        *,
        patience_ms: int,
    ) -> None:
        self._lives = lives
        self._send = send
        self._patience_ms = patience_ms
        self._sent: dict[str, int] = {}
        self._turns: dict[str, None] = {}
        self._under_way: memory.Number | None = None
        self._since_ms = 0

    def look(self) -> None:
        """Give a turn to each session that has written since its last one."""
        self._sent = {session: size for session, size in self._sent.items() if session in self._lives}
        for session, one in self._lives.items():
            size = output.size(one.output_path)
            if size and size != self._sent.get(session):
                self._turns.setdefault(session)
        self._go_on()

    def heard(self, numbers: tuple[memory.Number, ...]) -> None:
        """Take note of what the controller has heard."""
        if self._under_way in numbers:
            self._under_way = None
            self._go_on()

    def _go_on(self) -> None:
        now = records.monotonic_ms()
        if self._under_way is not None and now - self._since_ms < self._patience_ms:
            return
        self._under_way = None
        while self._turns and self._under_way is None:
            session = next(iter(self._turns))
            del self._turns[session]
            one = self._lives.get(session)
            if one is not None:
                self._sent[session] = output.size(one.output_path)
                self._under_way, self._since_ms = self._send(one.tail()), now
