"""The wall-time limit is kept by the shepherd when no agent is there."""

import errno

import pytest

from scheduler.agent import deadlines, intents, processes, records
from scheduler.protocol import fields, messages

AT = {"number": 15, "grace_ms": 500}
QUIET = "signal.signal(signal.SIGTERM, lambda *_: os._exit(CODE)); ready(); time.sleep(1000)"
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN); ready(); time.sleep(1000)"


@pytest.fixture
def clock(monkeypatch):
    now = [100_000]
    monkeypatch.setattr(records, "monotonic_ms", lambda: now[0])
    return now


def test_a_limit_is_overdue_a_little_after_its_moment_and_only_while_it_is_kept(tmp_path, clock):
    one = deadlines.Deadline(tmp_path)
    one.keep(clock[0], **AT)
    clock[0] += deadlines.LATER_MS - 1

    assert deadlines.overdue(tmp_path) is None

    clock[0] += 1

    assert deadlines.overdue(tmp_path) == {"at_ms": 100_000, "signal": 15, "grace_ms": 500}

    one.keep(None, **AT)

    assert deadlines.overdue(tmp_path) is None


def test_a_successor_takes_away_what_an_agent_before_had_left(tmp_path, clock):
    deadlines.Deadline(tmp_path).keep(1, **AT)
    deadlines.Deadline(tmp_path).keep(None, **AT)

    assert deadlines.overdue(tmp_path) is None


def test_a_full_disk_is_tried_again(tmp_path, clock, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    one = deadlines.Deadline(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(records, "write", full)
        one.keep(1, **AT)
    one.keep(1, **AT)

    assert deadlines.overdue(tmp_path) is not None


async def left_alone(bench, code):
    """Start a session with a limit of a few seconds, and take its agent away."""
    run = await bench.started(code, wall_limit_s=4, grace_ms=300)
    shepherd = run.shepherd
    await bench.down()
    return run, shepherd


@pytest.mark.parametrize(
    ("code", "how"),
    [(QUIET.replace("CODE", "0"), (0, None)), (STUBBORN, (None, 9))],
    ids=["heeds", "ignores"],
)
async def test_a_session_without_agent_is_warned_and_ended_when_its_time_is_over(bench, code, how):
    run, shepherd = await left_alone(bench, code)
    await bench.until(lambda: not processes.is_alive(shepherd), "it was ended")
    await bench.up()
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.exit_code, ended.signal) == how
    assert (ended.cause, ended.after_warning) == (fields.EndCause.WALL_TIME, True)


async def test_the_next_agent_does_not_warn_again_whom_the_shepherd_warned(bench):
    run, _ = await left_alone(bench, STUBBORN)
    await bench.until((run.directory / records.OVERDUE).exists, "the shepherd has warned it")

    warning = intents.warned_by_shepherd(run.directory)
    await bench.up()
    ended = await bench.report(messages.Ended, session=run.session)

    assert bench.memory.book.runs[run.session].warning in (warning, None)
    assert (ended.cause, ended.after_warning) == (fields.EndCause.WALL_TIME, True)


async def test_a_suspended_session_has_no_moment(bench):
    run = await bench.started(STUBBORN, wall_limit_s=1000)

    assert records.read(run.directory / records.DEADLINE)["grace_ms"] == run.start.grace_ms

    await bench.ask(run.suspend(), messages.Stopped)

    assert records.read(run.directory / records.DEADLINE) == {}

    await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.Resumed)
    await bench.until((run.directory / records.DEADLINE).exists, "it has one again")
