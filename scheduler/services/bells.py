"""
Bells: what is published after commit. Each may be lost without harm.

A live hint wakes the log readers, a round message wakes the scheduler, and commands go to their nodes at once instead
of at the next look of the reconciler. A broker that is away costs latency only: every bell is guarded.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from asgiref.sync import async_to_sync
from celery import current_app
from channels.layers import get_channel_layer

from scheduler import clock, points

log = logging.getLogger(__name__)

#: Seconds for which a request of a round is worth reading: longer than a busy worker lets it wait, and than clocks are
#: wrong. A late one finds nothing asked.
_ROUND_EXPIRES_S = 120
#: The channel-layer group that log readers join.
HINTS = "xce.events"
#: The longest that a bell rests after it could not be rung, and the longest that a hint may take, seconds.
LONGEST_PAUSE_S, HINT_S = 5, 2


def ring(*, last: int, group_ids: list[int], command_ids: list[int]) -> None:
    """
    Ring what one transaction asks for; a simulation has nobody who would hear it.

    Args:
        last: the last event number written, 0 for none.
        group_ids: groups that want a round now.
        command_ids: outbox rows to send now.
    """
    if clock.is_virtual():
        return
    points.reach("commit.done")
    if command_ids:
        _guarded("commands", lambda: _send(command_ids))
    for group_id in group_ids:
        _guarded("round", lambda group_id=group_id: _ask(group_id))
    if last:
        _guarded("hint", lambda: _hint(last))


def ring_rights(user_ids: Sequence[int]) -> None:
    """Ring for people whose log-in or roles have changed: their sockets look again at what they may see."""
    _guarded("rights", lambda: _tell({"type": "rights", "users": list(user_ids)}))


def _send(command_ids: list[int]) -> None:
    from scheduler.services import commands

    commands.send(command_ids)


def _ask(group_id: int) -> None:
    current_app.send_task("xce.round", args=[group_id], expires=_ROUND_EXPIRES_S)


def _hint(last: int) -> None:
    _tell({"type": "hint", "last": last})
    points.reach("hint.sent")


def _tell(message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    if layer is not None:
        async_to_sync(_in_time)(layer, message)


async def _in_time(layer: Any, message: dict[str, Any]) -> None:
    """Send over the channel layer, whose client would wait for ever where its store has halted."""
    await asyncio.wait_for(layer.group_send(HINTS, message), HINT_S)


def _guarded(name: str, bell: Callable[[], None]) -> None:
    """Ring one bell, unless it could not be rung a moment ago: whoever rings waits for nobody twice."""
    pause = _pauses.setdefault(name, _Pause())
    if pause.is_on():
        return
    try:
        bell()
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: the bell may be lost
        log.warning("bell %s was not rung, and is not for %s s: %s", name, pause.begin(), error)
    else:
        pause.end()


class _Pause:
    """A bell that could not be rung rests: for one second, then twice as long each time, up to five."""

    def __init__(self) -> None:
        self._seconds, self._until = 0, 0.0

    def is_on(self) -> bool:
        return time.monotonic() < self._until

    def begin(self) -> int:
        self._seconds = min(self._seconds * 2, LONGEST_PAUSE_S) or 1
        self._until = time.monotonic() + self._seconds
        return self._seconds

    def end(self) -> None:
        self._seconds, self._until = 0, 0.0


#: Of each kind of bell, in this process.
_pauses: dict[str, _Pause] = {}
