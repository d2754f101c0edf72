"""A node that is not heard ends the sessions that are to be fenced, whoever of it still lives."""

import signal

import pytest

from scheduler.agent import fencing, intents, processes, records, runs
from scheduler.protocol import fields, messages
from tests.conformance import programs
from tests.scheduler.agent import bench as benches

DAY_MS = 86_400_000


@pytest.fixture
def fence(tmp_path):
    return fencing.of(tmp_path, after_ms=1000, grace_ms=DAY_MS, number=0)


def test_a_fence_has_a_short_grace_and_none_is_none(tmp_path, fence):
    assert (fence["grace_ms"], fence["signal"]) == (60_000, 15)
    assert fencing.of(tmp_path, after_ms=0, grace_ms=1, number=0) is None
    assert not fencing.is_due(None, since_ms=0)


@pytest.mark.parametrize(
    ("heard_ms", "since_ms", "is_due"), [(999, 5000, False), (1000, 5000, True), (5000, 999, False)]
)
def test_silence_counts_from_the_last_heartbeat_heard_or_from_the_start(
    tmp_path, fence, monkeypatch, heard_ms, since_ms, is_due
):
    now = records.monotonic_ms()
    monkeypatch.setattr(records, "monotonic_ms", lambda: now)
    fencing.note(tmp_path, now - heard_ms)

    assert fencing.is_due(fence, since_ms=now - since_ms) is is_due


def test_a_heartbeat_that_was_heard_before_the_last_boot_says_nothing(tmp_path, fence, monkeypatch):
    fencing.note(tmp_path, records.monotonic_ms() + DAY_MS)
    monkeypatch.setattr(processes, "boot_id", lambda: "another")

    assert fencing.is_due(fence, since_ms=0)


def acknowledge(bench):
    """Acknowledge every heartbeat so far, as a controller that hears does."""
    beats = [e for e in bench.wire.envelopes if type(e.body) is messages.Heartbeat]
    bench.tell(messages.AckCommand(reports=tuple((e.boot, e.seq) for e in beats)))


async def test_a_session_runs_as_long_as_the_node_is_heard_and_ends_by_itself_when_it_is_not(bench):
    run = await bench.started(programs.QUIET, fence_ms=1500, grace_ms=0)
    other = await bench.started(programs.QUIET)
    deadline = records.monotonic_ms() + 3000
    while records.monotonic_ms() < deadline:
        acknowledge(bench)
        sent = len(bench.reports(messages.Heartbeat))
        await bench.until(lambda n=sent: len(bench.reports(messages.Heartbeat)) > n, "a heartbeat")
    assert run.members != []
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.cause, ended.known, ended.signal) == (fields.EndCause.FENCED, False, None)
    assert run.members == []
    assert other.members != []


async def test_a_supervisor_fences_alone_when_its_agent_is_dead_also_what_is_suspended(bench):
    code = programs.QUIET.replace("ready()", "signal.signal(signal.SIGTERM, signal.SIG_IGN); ready()")
    run = await bench.started(code, fence_ms=800, grace_ms=200)
    await bench.ask(run.suspend(), messages.Stopped)
    shepherd = run.shepherd
    await bench.down()
    await bench.until(lambda: not processes.is_alive(shepherd), "the shepherd has ended its session")
    assert run.members == []
    await bench.up()
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.known, ended.exit_code, ended.signal) == (False, None, None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGTTIN])
async def test_a_suspended_session_acts_on_the_warning_of_its_supervisor_whatever_signal_it_is(bench, number):
    code = f"signal.signal({int(number)}, lambda *_: os._exit(0)); " + programs.QUIET.strip()
    run = await bench.started(code, fence_ms=800, grace_ms=20_000, warn_signal=int(number))
    shepherd = run.shepherd
    await bench.ask(run.suspend(), messages.Stopped)
    await bench.down()
    await bench.until(lambda: not processes.is_alive(shepherd), "the session has ended")
    await bench.up()
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.exit_code, ended.known) == (0, True)


async def test_a_session_that_finishes_when_it_is_fenced_has_finished(bench):
    code = "signal.signal(signal.SIGTERM, lambda *_: os._exit(0)); " + programs.QUIET.strip()
    run = await bench.started(code, fence_ms=800, grace_ms=60_000)
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.cause, ended.exit_code, ended.known) == (fields.EndCause.SELF, 0, True)


async def test_the_agent_fences_a_job_whose_supervisor_is_dead(bench):
    run = await bench.started(programs.QUIET, fence_ms=1000, grace_ms=0)
    processes.send(run.shepherd, 9)
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.cause, ended.known) == (fields.EndCause.FENCED, False)
    assert run.members == []


@pytest.mark.parametrize(("state", "is_due"), [("running", True), ("suspended", False)])
def test_the_wall_time_counts_while_a_session_runs(tmp_path, state, is_due):
    run = runs.Run(start=benches.a_start(wall_limit_s=1), epoch=1, state=runs.RunState(state), ran_ms=1000)

    assert (intents.of_run(run, tmp_path, has_shepherd=True) is not None) is is_due
