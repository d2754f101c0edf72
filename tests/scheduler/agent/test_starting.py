"""From an accepted start to a running job."""

import pytest

from scheduler.agent import processes, records, starting, workspace
from scheduler.protocol import messages
from tests.scheduler.agent import bench as benches


@pytest.fixture
def means(tmp_path, forks):
    return starting.Means(None, workspace.Workspace(tmp_path / "state", "n1"), forks)


async def test_starting_again_finds_the_shepherd_that_is_there(means):
    command = benches.a_start(argv=("sleep", "1000"))
    first = await starting.start(command, means, ())
    again = await starting.start(command, means, ())
    processes.send(processes.Identity(*first["job"]), 9)

    assert again == first


async def test_the_reason_of_a_failure_is_one_sentence(means):
    with pytest.raises(starting.StartError, match=r"^cannot run the script: No such file or directory$"):
        await starting.start(benches.a_start(script="#!/no/such/interpreter\n"), means, ())


async def test_a_state_directory_that_cannot_be_written_is_a_reason(means, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(means.space, "prepare", full)
    with pytest.raises(starting.StartError, match="No space left"):
        await starting.start(benches.a_start(), means, ())


async def test_a_supervisor_that_died_at_once_is_a_reason(means, monkeypatch):
    monkeypatch.setattr(starting, "_RECORDS_MS", 50)
    command = benches.a_start()
    directory = means.space.prepare(command, workspace.Terms())
    (directory / "claim").touch()
    with pytest.raises(starting.StartError, match="its supervisor died"):
        await starting.start(command, means, ())


async def test_what_was_started_before_a_reset_and_never_told_is_a_failed_start(bench):
    start = benches.a_start()
    directory = bench.space.prepare(start, workspace.Terms())
    (directory / records.CLAIM).touch()
    old = {"shepherd": [1, 1], "job": [2, 1], "boot": "an-earlier-boot", "mono_ms": 1}
    records.write(directory / records.JOB, old)
    bench.memory.accept(start)
    await bench.restart()
    failed = await bench.report(messages.StartFailed, command_id=start.command_id)

    assert "was reset" in failed.error
