"""Commands at the agent: repeated, stale, reordered, forged, and the races between them."""

import dataclasses
import random

import pytest

from scheduler.agent.stop import procedures, signals
from scheduler.protocol import fields, messages, signing
from tests.scheduler.agent import bench as benches
from tests.scheduler.protocol import later_version

DAMAGED = 500
GRACEFUL = """
signal.signal(signal.SIGTERM, signal.SIG_IGN); ready()
while True:
    time.sleep(0.01)
"""


def kinds(bench, run):
    return [e.body.TYPE for e in bench.wire.envelopes if e.body.session == run.session]


async def test_P02_a_repeated_start_starts_once_and_is_answered_alike(bench):
    run = await bench.started()
    bench.tell(run.start)
    bench.tell(run.start)
    await bench.until(lambda: len(bench.reports(messages.Started)) >= 3, "two more answers")

    assert {r.pid for r in bench.reports(messages.Started)} == {run.pid}


async def test_P02_a_repeated_stop_acts_once_also_after_a_restart(bench):
    run = await bench.started()
    stop = run.suspend()
    first = await bench.ask(stop, messages.Stopped)
    bench.tell(messages.AckCommand(reports=tuple(bench.memory.book.outbox)))
    await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.Resumed)
    await bench.restart()
    before = len(bench.reports(messages.Stopped))
    bench.tell(stop)
    await bench.until(lambda: len(bench.reports(messages.Stopped)) > before, "the answer of then")

    assert bench.reports(messages.Stopped)[-1] == first
    assert bench.memory.book.runs[run.session].state == "running"


async def test_a_start_with_an_older_epoch_is_refused(bench):
    run = await bench.started(epoch=5)
    old = dataclasses.replace(run.start, epoch=4, command_id=benches.new_id())
    refused = await bench.ask(old, messages.StartRefused)

    assert refused.reason is fields.StartRefusal.STALE_EPOCH


@pytest.mark.parametrize("kind", ["suspend", "end", "kill"])
async def test_a_stop_of_another_epoch_touches_nothing(bench, kind):
    run = await bench.started(epoch=5)
    gone = await bench.ask(getattr(run, kind)(epoch=4), messages.Gone)

    assert gone.epoch == 4
    assert run.members != []
    assert bench.memory.book.runs[run.session].state == "running"


async def test_a_session_that_is_not_here_is_gone(bench):
    nowhere = benches.Run(bench, benches.a_start(), 0)
    for command in (
        nowhere.suspend(),
        nowhere.kill(),
        nowhere.about(messages.ResumeCommand),
        nowhere.about(messages.WithdrawCommand, stops=benches.new_id()),
        nowhere.about(messages.OutputRequest),
    ):
        await bench.ask(command, messages.Gone)


async def test_a_kill_that_overtook_its_start_prevents_it(bench):
    start = benches.a_start()
    run = benches.Run(bench, start, 0)
    await bench.ask(run.kill(), messages.Gone)
    refused = await bench.ask(start, messages.StartRefused)

    assert refused.reason is fields.StartRefusal.CANCELLED


async def test_a_cancelled_start_is_refused_also_after_a_restart(bench):
    start = benches.a_start()
    run = benches.Run(bench, start, 0)
    await bench.ask(run.about(messages.CancelStartCommand), messages.StartRefused)
    await bench.restart()
    refused = await bench.ask(start, messages.StartRefused)

    assert refused.reason is fields.StartRefusal.CANCELLED
    assert bench.reports(messages.Started) == []


async def test_a_cancel_that_came_too_late_says_so_and_the_session_runs_on(bench):
    run = await bench.started()
    await bench.ask(run.about(messages.CancelStartCommand), messages.StartedAlready)

    assert run.members != []


async def test_a_cancelled_resume_is_refused_and_a_later_one_works(bench):
    run = await bench.started()
    await bench.ask(run.suspend(), messages.Stopped)
    await bench.ask(run.about(messages.CancelStartCommand, epoch=2), messages.StartRefused)
    await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.StartRefused)

    assert {p.state for p in run.members} == {"T"}

    await bench.ask(run.about(messages.ResumeCommand, epoch=3), messages.Resumed)


async def unresumable(bench, monkeypatch):
    """Start a session, suspend it, and have a resume under epoch 2 fail."""
    run = await bench.started()
    await bench.ask(run.suspend(), messages.Stopped)
    with monkeypatch.context() as patch:
        patch.setattr(signals.SignalDriver, "release", lambda self, target: None)
        patch.setitem(procedures.resume.__kwdefaults__, "timeout_ms", 30)
        failed = await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.ResumeFailed)

    assert failed.epoch == 2
    return run


async def held_epoch(bench):
    told = len(bench.reports(messages.Heartbeat))
    await bench.until(lambda: len(bench.reports(messages.Heartbeat)) > told, "another heartbeat")
    return [(held.epoch, held.state) for held in bench.reports(messages.Heartbeat)[-1].sessions]


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_after_a_failed_resume_the_agent_holds_the_session_under_the_new_epoch(
    bench, monkeypatch, is_restarted
):
    run = await unresumable(bench, monkeypatch)
    if is_restarted:
        await bench.restart()

    assert await held_epoch(bench) == [(2, fields.HeldState.SUSPENDED)]

    stopped = await bench.ask(run.suspend(epoch=2), messages.Stopped)
    await bench.ask(run.about(messages.ResumeCommand, epoch=3), messages.Resumed)

    assert [(m.pid, m.state) for m in stopped.members] == [(run.pid, "T")]
    assert {p.state for p in run.members} <= {"S", "R"}


async def test_after_a_failed_resume_a_stop_by_kill_ends_the_session(bench, monkeypatch):
    run = await unresumable(bench, monkeypatch)
    ended = await bench.ask(run.end(epoch=2, grace_ms=0), messages.Ended)

    assert (ended.epoch, run.members) == (2, [])


async def test_a_stop_under_the_epoch_of_a_lost_resume_holds_the_session_and_a_late_resume_is_refused(bench):
    run = await bench.started()
    await bench.ask(run.suspend(), messages.Stopped)
    stopped = await bench.ask(run.suspend(epoch=2), messages.Stopped)
    await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.StartRefused)

    assert (stopped.epoch, [m.pid for m in stopped.members]) == (2, [run.pid])
    assert {p.state for p in run.members} == {"T"}


async def test_a_kill_with_the_epoch_of_a_lost_resume_ends_the_suspended_run(bench):
    run = await bench.started()
    await bench.ask(run.suspend(), messages.Stopped)
    ended = await bench.ask(run.kill(epoch=2), messages.Ended)

    assert ended.epoch == 2
    assert run.members == []


async def test_a_newer_start_ends_the_run_that_the_controller_has_given_up(bench):
    old = await bench.started()
    new = await bench.started(session=old.session, epoch=2, attempt=2)
    ended = await bench.report(messages.Ended, session=old.session, epoch=1)

    assert ended.signal == 9
    assert [p.pid for p in new.members] == [new.pid]
    assert kinds(bench, old).index("ended") < len(kinds(bench, old)) - 1


async def test_a_stop_that_comes_with_its_start_is_carried_out_after_it(bench):
    start = benches.a_start()
    run = benches.Run(bench, start, 0)
    bench.tell(start)
    stopped = await bench.ask(run.suspend(), messages.Stopped)

    assert [m.state for m in stopped.members] == ["T"]


async def test_every_command_about_an_ended_session_is_answered_by_its_end(bench):
    run = await bench.started(script="exit 3")
    await bench.report(messages.Ended, session=run.session)
    for command in (run.suspend(), run.kill(), run.about(messages.ResumeCommand, epoch=2)):
        ended = await bench.ask(command, messages.Ended)

        assert (ended.exit_code, ended.command_id) == (3, command.command_id)


async def test_a_start_again_under_another_command_is_answered_by_the_running_session(bench):
    run = await bench.started()
    again = dataclasses.replace(run.start, command_id=benches.new_id())
    started = await bench.ask(again, messages.Started)

    assert started.pid == run.pid


async def test_a_withdrawal_that_overtook_its_stop_prevents_it(bench):
    run = await bench.started()
    stop = run.suspend()
    await bench.ask(run.about(messages.WithdrawCommand, stops=stop.command_id), messages.Withdrawn)
    await bench.ask(stop, messages.Withdrawn)

    assert bench.memory.book.runs[run.session].state == "running"


async def test_a_withdrawal_after_the_end_is_refused(bench):
    run = await bench.started(script="exit 0")
    await bench.report(messages.Ended, session=run.session)
    withdrawal = run.about(messages.WithdrawCommand, stops=benches.new_id())
    refused = await bench.ask(withdrawal, messages.WithdrawRefused)

    assert refused.reason is fields.WithdrawRefusal.ENDED


async def test_a_withdrawal_of_another_stop_leaves_a_suspended_session_alone(bench):
    run = await bench.started()
    await bench.ask(run.suspend(), messages.Stopped)
    withdrawal = run.about(messages.WithdrawCommand, stops=benches.new_id())
    refused = await bench.ask(withdrawal, messages.WithdrawRefused)

    assert refused.reason is fields.WithdrawRefusal.SUSPENDED
    assert {p.state for p in run.members} == {"T"}


async def test_a_withdrawal_and_a_resume_are_refused_once_the_kill_has_begun(bench):
    run = await bench.started(GRACEFUL)
    stop = run.end(grace_ms=60_000)
    bench.tell(stop)
    await bench.until(lambda: bench.memory.book.runs[run.session].stop, "the stop is under way")
    bench.memory.record({"kind": "kill-begun", "session": run.session})
    withdrawal = run.about(messages.WithdrawCommand, stops=stop.command_id)
    refused = await bench.ask(withdrawal, messages.WithdrawRefused)
    failed = await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.ResumeFailed)

    assert refused.reason is fields.WithdrawRefusal.KILL_BEGUN
    assert "being ended" in failed.error


async def test_a_suspend_does_not_soften_a_kill_under_way(bench):
    run = await bench.started(GRACEFUL)
    bench.tell(run.end(grace_ms=300))
    await bench.until(lambda: bench.memory.book.runs[run.session].stop, "the stop is under way")
    ended = await bench.ask(run.suspend(), messages.Ended)

    assert ended.signal == 9


async def test_output_comes_in_pages_also_of_an_ended_run(bench):
    run = await bench.started(script="seq 1 2000")
    await bench.report(messages.Ended, session=run.session)
    whole, offset = "", 0
    while True:
        page = await bench.ask(
            run.about(messages.OutputRequest, offset=offset, limit=3000), messages.OutputPage
        )
        whole, offset = whole + page.data, page.next_offset
        if page.eof:
            break

    assert whole.split() == [str(n) for n in range(1, 2001)]
    assert page.size == len(whole)


async def test_an_acknowledged_report_is_not_sent_again(bench):
    run = await bench.started()
    bench.tell(messages.AckCommand(reports=tuple(bench.memory.book.outbox)))
    await bench.until(lambda: not bench.memory.book.outbox, "everything is acknowledged")
    seen = len(bench.reports(messages.Started))
    await bench.restart()

    assert len(bench.reports(messages.Started)) == seen
    assert run.members != []


async def test_P08_what_another_key_signed_is_refused_and_logged(bench, caplog):
    run = await bench.started()
    forged = signing.NodeKey("k1", "n1", b"f" * 32)
    bench.tell(run.kill(), key=forged)
    bench.agent.on_command("{}")
    kept = await bench.ask(run.suspend(), messages.Stopped)

    assert [m.pid for m in kept.members] == [run.pid]
    assert [r.getMessage().split(":")[0] for r in caplog.records if "refused" in r.getMessage()] == [
        "security"
    ] * 2


async def test_a_command_waits_for_its_repetition_when_the_journal_cannot_take_it(bench, caplog):
    run = await bench.started()
    stop = run.suspend()
    bench.memory.close()
    bench.tell(stop)
    await bench.until(lambda: "not carried out" in caplog.text, "the command was refused")
    state = bench.memory.book.runs[run.session].state
    bench.memory._journal.open()
    stopped = await bench.ask(stop, messages.Stopped)

    assert state == "running"
    assert [m.pid for m in stopped.members] == [run.pid]


async def test_p18_an_agent_answers_in_the_version_in_which_it_is_spoken_to(bench, monkeypatch):
    later_version.speak(monkeypatch)
    run = await bench.started()
    first = benches.signing.seal(run.suspend(), key=benches.KEY, boot="c", seq=99)
    bench.agent.on_command(first)
    await bench.report(messages.Stopped, session=run.session)
    spoken = {e.body.TYPE: e.version for e in reversed(bench.wire.envelopes)}

    assert (spoken["started"], spoken["stopped"], spoken["heartbeat"]) == (later_version.LATER, 1, 1)


async def test_P08_damaged_commands_do_nothing_and_cost_one_line_each(bench, caplog):
    run = await bench.started()
    orders = (run.suspend(), run.kill(), run.about(messages.CancelStartCommand), benches.a_start())
    texts = [signing.seal(order, key=benches.KEY, boot="c", seq=7) for order in orders]
    journal = (bench.space.root / "journal").read_text()
    chance, sent = random.Random(8), 0
    while sent < DAMAGED:
        text, other = chance.choice(texts), chance.choice(texts)
        at = chance.randrange(len(text))
        letter = chance.choice('"{}:,0123456789abcdef\u00e9\ud800')
        worse = chance.choice([text[:at] + letter + text[at + 1 :], text[:at], text[:at] + other[at:]])
        if worse not in texts:
            bench.agent._desk.receive(worse)
            sent += 1

    assert sum(record.getMessage().startswith("security:") for record in caplog.records) == DAMAGED
    assert (bench.space.root / "journal").read_text() == journal
    assert list(bench.agent._desk.lives) == [run.session]
