"""
Suspend, resume and kill: act, look, and answer only with what was seen.

The same procedure runs over every driver. "Suspended" means two looks in a row, 20 ms apart, at the same
members with none of them running, and nobody come and gone between; what cannot be shown in time is undone. A
waiting coroutine may be cancelled at any await: that is how a withdrawal or a kill takes over. Serves P10.
"""

from __future__ import annotations

import asyncio
import dataclasses
import signal
from collections.abc import Callable

from scheduler import points
from scheduler.agent import processes, records, schedstat
from scheduler.agent.stop import driver

#: Between two looks, in seconds.
LOOK_S = 0.02
#: While waiting for a grace to pass, in seconds; the end of a job is told by its shepherd at once anyway.
LOOK_AT_LEAST_S = 0.1
#: How long after the grace a suspend may take before it is undone, in ms.
PROOF_MS = 10_000
#: How long a shepherd may sweep before the agent searches itself, in ms.
SWEEP_MS = 200
#: A continue discards the first three, and is itself the fourth.
_NOT_FOR_HELD = frozenset({signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT})

Members = list[processes.Process]


@dataclasses.dataclass(frozen=True)
class Notice:
    """
    A signal before the act, the time in ms that it gives, and who is told whether the first process got it.

    Without `on_sent` the signal was sent before, by an agent that is gone, and is not sent again.
    """

    number: int
    grace_ms: int
    on_sent: Callable[[bool], None] | None = None

    def sent(self, delivered: bool) -> None:
        """Tell that it was sent."""
        if self.on_sent is not None:
            self.on_sent(delivered)


@dataclasses.dataclass(frozen=True)
class Held:
    """All members were seen held. `was_noticed`: a handler could act before the stop."""

    members: Members
    was_noticed: bool


@dataclasses.dataclass(frozen=True)
class NotHeld:
    """The stop could not be shown and was undone; these were running."""

    running: Members


@dataclasses.dataclass(frozen=True)
class Continued:
    """
    Members after a resume; `is_running`: the first process, or what is left of the job, was seen running.
    """

    members: Members
    is_running: bool


async def suspend(
    how: driver.StopDriver, target: driver.Target, notice: Notice, *, proof_ms: int = PROOF_MS
) -> Held | NotHeld:
    """
    Stop every process of a session and prove it.

    Args:
        how: the driver.
        target: the session's processes.
        notice: the decision's signal goes before SIGTSTP to members that catch it (0 or SIGTSTP: SIGTSTP alone);
            its grace runs from SIGTSTP to the stop and is skipped when nothing catches SIGTSTP.
        proof_ms: how long after the grace the stop may take.

    Returns:
        Held with the members of the last look (empty: nothing was left to stop), or NotHeld after it was undone.
    """
    deadline = records.monotonic_ms() + notice.grace_ms + proof_ms
    noticed = _give_notice(how, target, notice)
    if noticed:
        await _wait_until(lambda: how.is_held(target, how.observe(target)), notice.grace_ms)
    while records.monotonic_ms() < deadline:
        how.hold(target)
        first, before = how.observe(target), target.census
        await asyncio.sleep(LOOK_S)
        second = how.observe(target)
        if (
            _same(first, second)
            and target.census <= before
            and how.is_held(target, first)
            and how.is_held(target, second)
        ):
            target.spent = how.spent(second)
            points.reach("agent.stopped")
            return Held(second, noticed)
    running = [process for process in how.observe(target) if not processes.is_still(process)]
    how.release(target)
    return NotHeld(running)


def holds_still(how: driver.StopDriver, target: driver.Target) -> bool:
    """Look at suspended processes again: nothing runs, nobody came, and nobody has run since the last proof."""
    before = target.census
    members = how.observe(target)
    if not how.is_held(target, members) or (before and not target.census <= before):
        return False
    return not schedstat.has_grown(target.spent, how.spent(members))


def _give_notice(how: driver.StopDriver, target: driver.Target, notice: Notice) -> bool:
    """Send the notice; return whether anything catches it. A signal that would end a process is left out."""
    members = how.observe(target)
    if how.is_held(target, members):
        return False
    group = [process for process in members if process.group == target.job.pid]
    caught = [process for process in group if processes.catches(process.pid, signal.SIGTSTP)]
    if notice.on_sent is None:
        return bool(caught)
    if notice.number not in (0, signal.SIGTSTP):
        for process in group:
            if processes.catches(process.pid, notice.number):
                processes.send(process, notice.number)
    notice.sent(how.notify(target, signal.SIGTSTP, everyone=False))
    return bool(caught)


async def resume(how: driver.StopDriver, target: driver.Target, *, timeout_ms: int = PROOF_MS) -> Continued:
    """Continue all members and wait until one look shows the job running."""
    how.release(target)
    done = await _wait_until(lambda: _is_running(how, target), timeout_ms)
    if not done:
        how.hold(target)
    return Continued(how.observe(target), done)


def _is_running(how: driver.StopDriver, target: driver.Target) -> bool:
    members = how.observe(target)
    return not members or not how.is_held(target, members)


async def kill(
    how: driver.StopDriver,
    target: driver.Target,
    notice: Notice,
    *,
    before_kill: Callable[[], None],
    is_over: Callable[[], bool] | None = None,
) -> None:
    """
    Warn, wait, and end every process of a session. Returns when none is left.

    Args:
        how: the driver.
        target: the session's processes.
        notice: warning and grace.
        before_kill: called once, before the first SIGKILL; from then on there is no way back.
        is_over: whether the shepherd has written that it swept the last member. It is asked for a while before the
            machine is searched for members, which costs more.
    """
    if notice.grace_ms > 0:
        _warn(how, target, notice)
        if await _wait_until(lambda: _is_gone(how, target), notice.grace_ms):
            return
    before_kill()
    if is_over is not None and target.shepherd is not None and processes.is_alive(target.shepherd):
        how.kill(target, processes.tree(target.shepherd.pid))
        if await _wait_until(is_over, SWEEP_MS):
            return
    await sweep(how, target)


def _warn(how: driver.StopDriver, target: driver.Target, notice: Notice) -> None:
    """
    Warn every member once, so that no handler runs before the journal knows that it may.

    The warning waits while its receiver is held, and sent once more it is still one: whoever dies here leaves a session
    that its successor warns without warning it twice. What is discarded on the way out of a stop goes to what runs.
    """
    if notice.on_sent is None or notice.number in _NOT_FOR_HELD:
        how.release(target)
        if notice.on_sent is not None:
            notice.sent(how.notify(target, notice.number, everyone=True))
        return
    how.hold(target)
    try:
        notice.sent(how.notify(target, notice.number, everyone=True))
    finally:
        how.release(target)


async def sweep(how: driver.StopDriver, target: driver.Target) -> None:
    """Kill until nobody is left."""
    while not _is_gone(how, target):
        how.kill(target, how.observe(target))
        await asyncio.sleep(LOOK_S)


def _is_gone(how: driver.StopDriver, target: driver.Target) -> bool:
    """Look twice: without a shepherd one look may miss who was being born."""
    return not how.observe(target) and not how.observe(target)


async def _wait_until(is_done: Callable[[], bool], timeout_ms: int) -> bool:
    """Look until it is so (True) or the time is over (False): every 20 ms at first, less often later."""
    deadline = records.monotonic_ms() + timeout_ms
    pause_s = LOOK_S
    while not is_done():
        left_s = (deadline - records.monotonic_ms()) / 1000
        if left_s <= 0:
            return False
        await asyncio.sleep(min(pause_s, left_s))
        pause_s = min(pause_s * 1.3, LOOK_AT_LEAST_S)
    return True


def _same(first: Members, second: Members) -> bool:
    return {process.identity for process in first} == {process.identity for process in second}
