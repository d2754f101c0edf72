"""The agent's timers: heartbeat, live output, clean-up."""

import dataclasses

from scheduler.agent import loop
from scheduler.protocol import fields, messages


async def test_heartbeats_tell_what_is_held(bench):
    run = await bench.started()
    held = messages.HeldSession(session=run.session, epoch=1, state="running")
    beat = await bench.report(messages.Heartbeat, sessions=(held,))

    assert beat.session == ""


async def test_a_hello_comes_with_every_connection_and_brings_what_waits(bench):
    await bench.started()
    before = len(bench.wire.envelopes)
    bench.agent.on_connected()
    await bench.until(lambda: len(bench.reports(messages.Hello)) == 2, "another hello")
    kinds = [e.body.TYPE for e in bench.wire.envelopes[before:] if e.body.TYPE != "heartbeat"]

    assert kinds[:2] == ["hello", "started"]


async def test_last_lines_come_while_the_output_grows_and_not_otherwise(bench):
    run = await bench.started(script="echo one; sleep 1000")
    await bench.report(messages.OutputTail, session=run.session, tail="one\n")
    beats = len(bench.reports(messages.Heartbeat))
    await bench.until(lambda: len(bench.reports(messages.Heartbeat)) > beats + 3, "some time has passed")

    assert len(bench.reports(messages.OutputTail)) == 1

    with (run.directory / "output").open("a") as output:
        output.write("two\n")
    await bench.report(messages.OutputTail, session=run.session, tail="one\ntwo\n")


async def test_a_failing_timer_does_not_end_the_agent(bench, monkeypatch, caplog):
    monkeypatch.setattr(bench.memory, "compact", lambda **more: 1 / 0)
    await bench.until(lambda: "failed and is tried again" in caplog.text, "the failure is logged")
    monkeypatch.undo()
    await bench.started()


async def test_ended_runs_are_cleaned_away_after_their_time_and_living_ones_are_not(bench):
    living, ended = await bench.started(), await bench.started(script="exit 0")
    await bench.report(messages.Ended, session=ended.session)
    loop.clean(bench.means, retention_s=3600)

    assert ended.directory.exists()

    loop.clean(bench.means, retention_s=-1)

    assert not ended.directory.exists()
    assert not bench.space.checkpoint_dir(ended.session).exists()
    assert ended.session not in bench.memory.book.runs
    assert living.directory.exists()
    assert bench.space.checkpoint_dir(living.session).exists()


async def test_P02_a_start_that_comes_again_after_all_was_cleaned_away_starts_nothing(bench):
    ended = await bench.started(script="exit 0")
    await bench.report(messages.Ended, session=ended.session)
    loop.clean(bench.means, retention_s=-1)
    await bench.restart()
    refused = await bench.ask(ended.start, messages.StartRefused)

    assert refused.reason is fields.StartRefusal.STALE_EPOCH
    assert {report.pid for report in bench.reports(messages.Started)} == {ended.pid}


async def test_a_command_before_the_agent_is_up_is_left_to_its_repetition(bench):
    other = loop.Agent(bench.means, dataclasses.replace(bench.options))
    other.on_command("anything")
    other.on_connected()

    assert bench.reports(messages.Gone) == []


async def test_sessions_run_side_by_side(bench):
    runs = [await bench.started(slots={"cpu": 1000}) for _ in range(3)]

    assert len({run.pid for run in runs}) == 3
    assert {len(run.members) for run in runs} == {1}


async def test_a_session_whose_watch_fails_keeps_no_other_from_its_limit(bench, caplog):
    broken = await bench.started()
    lives = bench.agent._desk.lives

    def fails(*_, **__):
        raise OSError(28, "No space left on device")

    lives[broken.session].tick = fails
    other = await bench.started(wall_limit_s=1, grace_ms=0)
    ended = await bench.report(messages.Ended, session=other.session)
    told = [r for r in caplog.records if f"session {broken.session} failed" in r.message]

    assert ended.cause is fields.EndCause.WALL_TIME
    assert len(told) == 1
    assert list(lives) == [broken.session]
