"""Being told when exactly this process ends."""

import asyncio
import subprocess

from scheduler.agent import processes, watches


async def test_the_end_of_a_process_is_told_once():
    child = subprocess.Popen(["sleep", "1000"])
    one, ended = watches.Watches(), asyncio.Event()

    assert one.add(processes.look(child.pid).identity, ended.set)
    assert not ended.is_set()

    child.kill()
    await asyncio.wait_for(ended.wait(), 10)
    child.wait()
    one.close()


async def test_what_has_ended_or_is_another_is_not_watched():
    child = subprocess.Popen(["true"])
    identity = processes.look(child.pid).identity
    child.wait()
    me = processes.look(1).identity
    one = watches.Watches()

    assert not one.add(identity, lambda: None)
    assert not one.add(processes.Identity(1, me.start_time + 1), lambda: None)
    assert not one.add(None, lambda: None)


async def test_a_closed_watch_tells_nothing():
    child = subprocess.Popen(["sleep", "1000"])
    one, told = watches.Watches(), []
    one.add(processes.look(child.pid).identity, lambda: told.append(1))

    assert not one.is_empty

    one.close()

    assert one.is_empty

    child.kill()
    child.wait()
    for _ in range(5):
        await asyncio.sleep(0)

    assert told == []
