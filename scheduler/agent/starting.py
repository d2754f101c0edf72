"""From an accepted start to a running job: directory, control group, shepherd, and the shepherd's word."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import pathlib
from collections.abc import Callable

from scheduler import points
from scheduler.agent import accounts, limits, memory, processes, records, spawner, workspace
from scheduler.agent.stop import driver, freezer, procedures
from scheduler.protocol import messages

_RECORDS_MS = 5000


class StartError(Exception):
    """Nothing runs; the text says why."""


@dataclasses.dataclass(frozen=True)
class Means:
    """
    What every life of an agent works with.

    Attributes:
        memory: journal and book.
        space: directories.
        spawner: starts shepherds.
        cgroup_root: delegated control group directory, or None: stopping by signals.
        limits: what every session may use.
        table: accounts of owners, or None: single-user mode, all sessions run as the agent's own account.
        choose_driver: the stop driver for a run with this control group (empty: none).
    """

    memory: memory.Memory
    space: workspace.Workspace
    spawner: spawner.Spawner
    cgroup_root: pathlib.Path | None = None
    limits: limits.Limits = dataclasses.field(default_factory=limits.Limits)
    table: accounts.Table | None = None
    choose_driver: Callable[[str], driver.StopDriver] = freezer.choose_driver


async def start(command: messages.StartCommand, means: Means, cpus: tuple[int, ...]) -> records.Record:
    """
    Start a session, or find that a shepherd has already done so for this very command.

    Returns:
        The record `job`: identities of shepherd and job, and when.

    Raises:
        StartError: the directory, the program or the supervisor failed, or the machine was reset in between.
    """
    try:
        directory = means.space.prepare(command, _terms(command, means, cpus))
        for again in (False, True):
            await _hung_up(means.spawner.spawn(str(directory), anew=again))
            if (directory / records.CLAIM).exists():
                break
    except (OSError, accounts.AccountError) as fault:
        raise StartError(str(fault)) from fault
    job = await _result(command, directory)
    points.reach("agent.launched")
    return job


def _terms(command: messages.StartCommand, means: Means, cpus: tuple[int, ...]) -> workspace.Terms:
    account = means.table.account_of(command.owner) if means.table is not None else None
    root, bounds = means.cgroup_root, means.limits.of(command.slots)
    group = freezer.make_group(root, f"{command.session}.{command.epoch}") if root is not None else ""
    if group:
        limits.limit_group(group, bounds)
    return workspace.Terms(cpus, group, bounds, account)


async def _result(command: messages.StartCommand, directory: pathlib.Path) -> records.Record:
    """Read what the shepherd wrote; an earlier one may still be at it."""
    deadline, here = records.monotonic_ms() + _RECORDS_MS, processes.boot_id()
    while not (directory / records.JOB).exists() and records.monotonic_ms() < deadline:
        await asyncio.sleep(procedures.LOOK_S)
    job, error = (records.read(directory / name) for name in (records.JOB, records.ERROR))
    if job.pop("boot", here) != here:
        raise StartError("the node was reset while the session was being started; nothing of it runs")
    if job and not error:
        return job
    program = command.argv[0] if command.argv else "the script"
    raise StartError(f"cannot run {program}: {error.get('error') or 'its supervisor died'}")


async def _hung_up(ready: int) -> None:
    """Wait until the shepherd closes its end of the pipe, and close ours."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(ready, done.set)
    try:
        await done.wait()
    finally:
        loop.remove_reader(ready)
        os.close(ready)
