"""The supervisor, with real processes and without an agent."""

import json
import os
import signal

import pytest

from scheduler.agent import processes, records
from tests.conformance import jobs, programs

FACTS = """
import json, resource, socket
def masks():
    lines = open("/proc/self/status").read().splitlines()
    return {l.split(":")[0]: l.split()[1] for l in lines if l.startswith(("SigBlk", "SigIgn", "SigCgt", "NoNewPrivs"))}
print(json.dumps({
    "masks": masks(), "umask": os.umask(0), "core": resource.getrlimit(resource.RLIMIT_CORE),
    "descriptors": sorted(os.listdir("/proc/self/fd")), "leader": os.getsid(0) == os.getpid(),
    "stdin": os.readlink("/proc/self/fd/0"), "cpus": sorted(os.sched_getaffinity(0)), "cwd": os.getcwd(),
}))
ready()
"""


async def facts_of(job):
    return json.loads(job.output.splitlines()[0])


async def test_nothing_of_the_agent_leaks_into_a_job(forks, tmp_path):
    async with jobs.started(programs.python(FACTS), tmp_path, forks) as job:
        facts = await facts_of(job)

    assert int(facts["masks"]["SigBlk"], 16) == 0
    assert facts["masks"]["NoNewPrivs"] == "1"
    assert facts["umask"] == 0o077
    assert facts["core"] == [0, 0]
    assert facts["stdin"] == "/dev/null"
    assert facts["descriptors"] in (["0", "1", "2"], ["0", "1", "2", "3"])
    assert facts["leader"]
    assert facts["cwd"] == str(job.directory / "work")


async def test_signals_that_the_agent_ignores_act_on_a_job(forks, tmp_path):
    async with jobs.started(
        ("/bin/sh", "-c", "grep SigIgn /proc/self/status; echo ready"), tmp_path, forks
    ) as job:
        ignored = int(job.output.split()[1], 16)

    assert ignored == 0


async def test_the_exit_status_is_on_disk_when_the_shepherd_has_left(forks, tmp_path):
    async with jobs.started(("/bin/sh", "-c", "echo ready; exit 9"), tmp_path, forks) as job:
        await jobs.until(lambda: not processes.is_alive(job.target.shepherd), "the shepherd has left")

    end = records.read(job.directory / records.END)
    assert (end["code"], end["signal"]) == (9, None)
    assert end["peak_bytes"] > 0


async def test_the_exit_status_is_on_disk_while_others_are_being_swept(forks, tmp_path):
    script = "(trap '' TERM; while :; do sleep 0.01; done) & echo ready; sleep 0.1; exit 9"
    async with jobs.started(("/bin/sh", "-c", script), tmp_path, forks) as job:
        records.write(job.directory / records.GRACE, {"until_ms": records.monotonic_ms() + 600_000})
        await jobs.until(lambda: records.read(job.directory / records.EXIT), "the status is there")

        assert records.read(job.directory / records.EXIT) == {"code": 9, "signal": None}
        assert processes.is_alive(job.target.shepherd)


async def test_a_death_by_signal_is_told_as_such(forks, tmp_path):
    async with jobs.started(programs.python("ready(); idle()"), tmp_path, forks) as job:
        os.kill(job.target.job.pid, signal.SIGUSR1)
        await jobs.until(lambda: not processes.is_alive(job.target.shepherd), "the shepherd has left")

    end = records.read(job.directory / records.END)
    assert (end["code"], end["signal"]) == (None, signal.SIGUSR1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_polite_signal_does_not_move_the_shepherd(forks, tmp_path, number):
    async with jobs.started(programs.python("ready(); idle()"), tmp_path, forks) as job:
        processes.send(job.target.shepherd, number)
        ticks = job.ticks
        await jobs.until(lambda: job.ticks > ticks + 3, "the job runs on")

        assert processes.is_alive(job.target.shepherd)


async def test_who_a_job_is_stands_in_its_record_before_its_first_instruction(forks, tmp_path):
    async with jobs.started(
        ("/bin/sh", "-c", "cat ../job; echo; echo ready; exec sleep 1000"), tmp_path, forks
    ) as job:
        seen = json.loads(job.output.splitlines()[0])
        target = job.target

        assert seen["job"] == [target.job.pid, target.job.start_time]
        assert seen["shepherd"] == [target.shepherd.pid, target.shepherd.start_time]
        assert target.shepherd == processes.look(target.shepherd.pid).identity


async def test_a_second_shepherd_for_the_same_session_leaves_at_once(forks, tmp_path):
    async with jobs.started(programs.python("ready(); idle()"), tmp_path, forks) as job:
        with os.fdopen(forks.spawn(str(job.directory)), "rb") as ready:
            assert ready.read() == b""

        assert {p.pid for p in job.members()} == {job.target.job.pid}


async def test_a_job_whose_shepherd_dies_runs_on(forks, tmp_path):
    async with jobs.started(programs.python("ready(); idle()"), tmp_path, forks) as job:
        processes.send(job.target.shepherd, signal.SIGKILL)
        await jobs.until(lambda: not processes.is_alive(job.target.shepherd), "the shepherd is dead")
        ticks = job.ticks
        await jobs.until(lambda: job.ticks > ticks, "the job runs on")


async def test_a_flood_of_output_neither_blocks_nor_ends_the_job_and_keeps_head_and_tail(bench):
    limit = 2**20
    code = """
print("first line")
for n in range(200_000):
    print(f"{n:>60}")
print("last line", flush=True); ready(); idle()
"""
    run = await bench.started(code.replace("ready(); idle()", "ready()"), output_limit_bytes=limit)
    from scheduler.protocol import messages

    ended = await bench.report(messages.Ended, session=run.session, exit_code=0)
    path = run.directory / "output"

    assert ended.output_bytes > 10 * limit
    assert path.read_bytes().startswith(b"first line")
    assert b"last line" in path.read_bytes()[-200:]


async def test_the_middle_of_a_flood_is_given_back_to_the_disk(bench):
    limit = 2**20
    code = 'sys.stdout.write("x" * 20_000_000); sys.stdout.flush(); ready(); time.sleep(1000)'
    run = await bench.started(code, output_limit_bytes=limit)
    path = run.directory / "output"

    await bench.until(lambda: path.stat().st_blocks * 512 <= limit + 8192, "the output is within its limit")


async def test_a_session_may_keep_no_output_at_all(bench):
    from scheduler.protocol import messages

    run = await bench.started(script="echo much", output_limit_bytes=0)
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.exit_code, ended.output_bytes) == (0, 0)
