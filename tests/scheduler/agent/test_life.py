"""One run of a session, with real processes: launch, stop, continue, end, and every death around it."""

import dataclasses
import os
import signal

import pytest

from scheduler.agent import intents, processes, records, runs
from scheduler.agent.stop import procedures
from scheduler.protocol import codec, fields, messages
from tests.conformance import jobs, programs
from tests.scheduler.agent import bench as benches

COUNTER = """
n = 0
ready()
while True:
    n += 1; print(n, flush=True); time.sleep(0.005)
"""
ON_TERM = """
def leave(*_):
    with open(os.environ["XCE_CHECKPOINT_DIR"] + "/saved", "w") as file:
        file.write("42")
    open(os.environ["XCE_CHECKPOINTED_FILE"], "w").close()
    os._exit(CODE)
signal.signal(signal.SIGTERM, leave); ready(); idle_quietly()
"""
QUIET = """
def idle_quietly():
    while True:
        time.sleep(0.01)
"""


def on_term(code):
    return QUIET + ON_TERM.replace("CODE", str(code))


IGNORES_TERM = QUIET + "signal.signal(signal.SIGTERM, signal.SIG_IGN); ready(); idle_quietly()"
LEAVER = (
    QUIET
    + """
reader, writer = os.pipe()
def outer():
    os.setsid()
    def inner():
        os.write(writer, b"x"); idle_quietly()
    fork(inner)
os.waitpid(fork(outer), 0); os.read(reader, 1); ready()
"""
)


async def test_a_session_runs_in_its_own_process_session_below_its_shepherd(bench):
    run = await bench.started(COUNTER)
    job, shepherd = processes.look(run.pid), processes.look(run.shepherd.pid)

    assert (job.session, job.group, job.parent) == (run.pid, run.pid, shepherd.pid)
    assert shepherd.session == shepherd.pid


async def test_P10_suspend_and_resume_continue_a_counter_where_it_was(bench):
    run = await bench.started(COUNTER)
    stopped = await bench.ask(run.suspend(), messages.Stopped)
    seen = run.output

    assert {m.state for m in stopped.members} == {"T"}
    assert {p.state for p in run.members} == {"T"}
    assert await jobs.holds(lambda: run.output == seen, 0.2)

    resumed = await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.Resumed)
    await bench.until(lambda: len(run.output) > len(seen), "the counter goes on")

    assert resumed.epoch == 2
    assert [m.pid for m in resumed.members] == [run.pid]
    numbers = [int(line) for line in run.output.split()[1:-1]]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_the_end_tells_exit_code_time_and_output(bench):
    run = await bench.started(script="echo hello; exit 7")
    ended = await bench.report(messages.Ended, session=run.session)
    tail = await bench.report(messages.OutputTail, session=run.session)

    assert (ended.exit_code, ended.signal, ended.known, ended.cause) == (7, None, True, fields.EndCause.SELF)
    assert (ended.after_warning, ended.checkpointed, ended.command_id) == (False, False, "")
    assert ended.peak_bytes > 0
    assert (tail.tail, tail.size, ended.output_bytes) == ("hello\n", 6, 6)


async def test_a_program_that_cannot_be_run_is_a_failed_start_with_its_reason(bench):
    failed = await bench.ask(benches.a_start(argv=("no-such-program",)), messages.StartFailed)

    assert failed.error == "cannot run no-such-program: No such file or directory"


async def test_a_working_directory_that_is_not_there_is_named(bench):
    failed = await bench.ask(benches.a_start(workdir="/no/such/place"), messages.StartFailed)

    assert "/no/such/place does not exist" in failed.error


async def test_a_kill_warns_and_a_program_that_heeds_it_ends_by_itself(bench):
    run = await bench.started(on_term(0))
    ended = await bench.ask(run.end(grace_ms=20_000), messages.Ended)

    assert (ended.exit_code, ended.after_warning, ended.checkpointed) == (0, True, True)
    assert ended.cause is fields.EndCause.SELF
    assert (bench.space.checkpoint_dir(run.session) / "saved").read_text() == "42"


async def test_a_program_that_ignores_the_warning_is_killed_after_the_grace(bench):
    run = await bench.started(IGNORES_TERM)
    ended = await bench.ask(run.end(grace_ms=150), messages.Ended)

    assert (ended.signal, ended.after_warning) == (signal.SIGKILL, True)
    assert ended.cause is fields.EndCause.KILLED
    assert ended.ran_ms >= 150


async def test_the_grace_holds_for_children_when_their_shell_dies_of_the_warning(bench):
    python = programs.python(on_term(0))
    run = await bench.started(argv=("/bin/sh", "-c", '"$@" & wait', "sh", *python))
    await bench.until(lambda: "ready" in run.output, "the child is ready")
    ended = await bench.ask(run.end(grace_ms=20_000), messages.Ended)

    assert (ended.signal, ended.checkpointed) == (signal.SIGTERM, True)
    assert (bench.space.checkpoint_dir(run.session) / "saved").read_text() == "42"


async def test_a_suspended_session_can_be_ended_with_its_warning(bench):
    run = await bench.started(on_term(3))
    await bench.ask(run.suspend(), messages.Stopped)
    ended = await bench.ask(run.kill(grace_ms=20_000), messages.Ended)

    assert (ended.exit_code, ended.after_warning) == (3, True)


async def test_no_process_of_an_ended_session_remains(bench):
    run = await bench.started(LEAVER)
    await bench.report(messages.Ended, session=run.session)

    assert run.members == []
    assert not processes.is_alive(run.shepherd)


async def test_running_time_leaves_suspended_time_out(bench):
    run = await bench.started(COUNTER)
    await bench.ask(run.suspend(), messages.Stopped)
    suspended_ms = records.monotonic_ms()
    await jobs.holds(lambda: True, 0.5)
    paused_ms = records.monotonic_ms() - suspended_ms
    begun = bench.memory.book.runs[run.session].ran_ms
    ended = await bench.ask(run.kill(), messages.Ended)

    assert begun <= ended.ran_ms < begun + paused_ms


async def test_the_wall_time_limit_ends_a_session_without_any_command(bench):
    run = await bench.started(IGNORES_TERM, wall_limit_s=1, grace_ms=100)
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.cause, ended.command_id) == (fields.EndCause.WALL_TIME, "")
    assert ended.ran_ms >= 1000


async def test_a_session_that_somebody_continued_is_stopped_again(bench):
    run = await bench.started(COUNTER)
    await bench.ask(run.suspend(), messages.Stopped)
    os.kill(run.pid, signal.SIGCONT)
    await bench.until(lambda: processes.look(run.pid).state != "T", "it runs again")
    await bench.until(lambda: processes.look(run.pid).state == "T", "it is stopped again")


async def test_that_a_suspended_session_ran_is_told_by_another_proof_of_its_stop_three_times_at_most(bench):
    run = await bench.started(COUNTER)
    stop = run.suspend()
    await bench.ask(stop, messages.Stopped)
    for times in range(2, 6):
        os.kill(run.pid, signal.SIGCONT)
        await bench.until(lambda: processes.look(run.pid).state != "T", "it runs again")
        await bench.until(lambda: processes.look(run.pid).state == "T", "it is stopped again")
        told = {r.at_mono_ms: r for r in bench.reports(messages.Stopped)}

        assert len(told) == min(times, 4)

    assert {report.command_id for report in told.values()} == {stop.command_id}
    assert all(report.members[0].state == "T" for report in told.values())
    assert bench.memory.book.runs[run.session].state is runs.RunState.SUSPENDED


async def test_a_session_that_ran_and_stands_again_before_the_look_is_told_too(bench):
    run = await bench.started(COUNTER)
    stop = run.suspend()
    await bench.ask(stop, messages.Stopped)
    await bench.down()
    seen = run.output
    os.kill(run.pid, signal.SIGCONT)
    await bench.until(lambda: len(run.output) > len(seen) + 300, "it runs")
    os.kill(run.pid, signal.SIGSTOP)
    await bench.until(lambda: processes.look(run.pid).state == "T", "it stands")
    told = len({r.at_mono_ms for r in bench.reports(messages.Stopped)})
    await bench.up()
    await bench.until(
        lambda: len({r.at_mono_ms for r in bench.reports(messages.Stopped)}) > told, "that it ran is told"
    )

    assert bench.reports(messages.Stopped)[-1].command_id == stop.command_id


async def test_a_stop_under_way_becomes_the_proof_of_a_kill_that_came_later(bench):
    run = await bench.started(IGNORES_TERM)
    bench.tell(run.end(grace_ms=60_000))
    await bench.until(lambda: bench.memory.book.runs[run.session].stop, "the stop is under way")
    ended = await bench.ask(run.kill(), messages.Ended)

    assert (ended.signal, ended.after_warning) == (signal.SIGKILL, True)


async def test_a_withdrawn_stop_leaves_the_session_running(bench):
    run = await bench.started(IGNORES_TERM)
    stop = run.end(grace_ms=60_000)
    bench.tell(stop)
    await bench.until(lambda: bench.memory.book.runs[run.session].stop, "the stop is under way")
    await bench.ask(run.about(messages.WithdrawCommand, stops=stop.command_id), messages.Withdrawn)

    assert run.members != []
    assert bench.memory.book.runs[run.session].stop is None


async def test_a_withdrawn_suspend_continues_the_session(bench):
    run = await bench.started(COUNTER)
    stop = run.suspend()
    await bench.ask(stop, messages.Stopped)
    seen = run.output
    await bench.ask(run.about(messages.WithdrawCommand, stops=stop.command_id), messages.Withdrawn)

    await bench.until(lambda: len(run.output) > len(seen), "the counter goes on")


async def test_P10_what_cannot_be_shown_stopped_is_a_failed_stop_and_the_session_runs_on(bench, monkeypatch):
    monkeypatch.setitem(procedures.suspend.__kwdefaults__, "proof_ms", 300)
    ticks = bench.place / "ticks"
    run = await bench.started(argv=programs.VFORK.argv, env={"TICKS": str(ticks)})
    await bench.until(lambda: any(p.state == "D" for p in run.members), "the vfork parent waits")
    failed = await bench.ask(run.suspend(suspend_grace_ms=0), messages.StopFailed)
    seen = ticks.stat().st_size
    await bench.until(lambda: ticks.stat().st_size > seen, "it runs on")
    await bench.until(
        lambda: bench.reports(messages.Heartbeat)[-1].sessions[0].state is fields.HeldState.RUNNING,
        "a heartbeat that says so",
    )

    assert "D" in {member.state for member in failed.running}
    assert bench.reports(messages.Stopped) == []


# -- deaths around a session


async def test_P03_a_restarted_agent_adopts_what_runs_and_what_is_suspended(bench):
    running, suspended = await bench.started(COUNTER), await bench.started(COUNTER)
    await bench.ask(suspended.suspend(), messages.Stopped)
    await bench.restart()
    hello = bench.reports(messages.Hello)[-1]

    assert {(s.session, s.state) for s in hello.sessions} == {
        (running.session, fields.HeldState.RUNNING),
        (suspended.session, fields.HeldState.SUSPENDED),
    }
    resumed = await bench.ask(suspended.about(messages.ResumeCommand, epoch=2), messages.Resumed)
    ended = await bench.ask(running.kill(), messages.Ended)

    assert resumed.members[0].pid == suspended.pid
    assert ended.known


async def test_P03_an_end_while_the_agent_was_away_is_reported_with_its_exit_code(bench):
    run = await bench.started(on_term(5))
    shepherd = run.shepherd
    await bench.down()
    os.kill(run.pid, signal.SIGTERM)
    await bench.until(lambda: not processes.is_alive(shepherd), "the shepherd has written its records")
    await bench.up()
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.exit_code, ended.known, ended.cause) == (5, True, fields.EndCause.SELF)


async def test_a_stop_that_an_agent_left_behind_is_carried_on_by_the_next(bench):
    run = await bench.started(IGNORES_TERM)
    stop = run.end(grace_ms=700)
    bench.tell(stop)
    await bench.until(lambda: bench.memory.book.runs[run.session].warning, "the warning was sent")
    await bench.restart()
    ended = await bench.report(messages.Ended, command_id=stop.command_id)

    assert (ended.signal, ended.after_warning) == (signal.SIGKILL, True)


#: Once warned it waits for a file, and leaves with this code.
ON_TERM_LATER = """
def leave(*_):
    while not os.path.exists(os.environ["GO"]):
        time.sleep(0.01)
    os._exit(CODE)
signal.signal(signal.SIGNAL, leave); ready()
while True:
    time.sleep(0.01)
"""


def on_term_later(code, name="SIGTERM"):
    return ON_TERM_LATER.replace("CODE", str(code)).replace("SIGNAL", name)


async def warned(bench, code, **more):
    """Start a session, and have it warned of a stop with a long grace."""
    go = bench.place / "go"
    run = await bench.started(on_term_later(code), env={"GO": str(go)}, **more)
    stop = run.end(grace_ms=60_000)
    bench.tell(stop)
    await bench.until(lambda: bench.memory.book.runs[run.session].warning, "the warning was sent")
    return run, stop, go


@pytest.mark.parametrize("code", [0, 3, 143])
@pytest.mark.parametrize("is_compacted", [False, True])
async def test_an_exit_after_the_warning_is_told_as_such_by_the_next_agent(bench, code, is_compacted):
    run, stop, go = await warned(bench, code)
    shepherd = run.shepherd
    if is_compacted:
        bench.memory.compact(at=1)
    await bench.down()
    go.touch()
    await bench.until(lambda: not processes.is_alive(shepherd), "it ended while no agent was there")
    await bench.up()
    ended = await bench.report(messages.Ended, command_id=stop.command_id)

    assert (ended.exit_code, ended.after_warning) == (code, True)


async def test_a_warning_counts_for_the_kill_that_takes_the_stops_place_also_after_a_restart(bench):
    run, _, _ = await warned(bench, 0)
    sent = bench.memory.book.runs[run.session].warning
    later = run.kill(grace_ms=60_000)
    bench.tell(later)
    await bench.until(
        lambda: bench.memory.book.runs[run.session].stop.command_id == later.command_id, "the kill took over"
    )
    await bench.restart()

    assert bench.memory.book.runs[run.session].warning == sent

    ended = await bench.ask(run.kill(), messages.Ended)

    assert (ended.signal, ended.after_warning) == (signal.SIGKILL, True)


async def test_a_warning_that_no_agent_came_to_send_is_sent_by_the_next_with_its_whole_grace(bench):
    run = await bench.started(on_term(0))
    stop = run.end(grace_ms=1500)
    bench.memory.accept(stop)
    plain = dataclasses.asdict(intents.of_stop(codec.decode(codec.encode(stop))))
    bench.memory.record({"kind": "stop", "session": run.session, "stop": plain, "warning": None})
    await bench.down()
    await jobs.holds(lambda: True, 1.6)
    await bench.up()
    ended = await bench.report(messages.Ended, command_id=stop.command_id)

    assert (ended.exit_code, ended.after_warning, ended.checkpointed) == (0, True, True)


async def test_a_suspended_session_acts_on_a_warning_that_a_continue_would_discard(bench):
    run = await bench.started(on_term_later(3, "SIGTTIN"), env={"GO": "/"}, warn_signal=signal.SIGTTIN)
    await bench.ask(run.suspend(), messages.Stopped)
    ended = await bench.ask(run.kill(grace_ms=20_000, signal=signal.SIGTTIN), messages.Ended)

    assert (ended.exit_code, ended.after_warning) == (3, True)


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_an_exit_for_a_warning_that_was_taken_back_too_late_counts_as_after_it(bench, is_restarted):
    run, stop, go = await warned(bench, 3)
    await bench.ask(run.about(messages.WithdrawCommand, stops=stop.command_id), messages.Withdrawn)
    if is_restarted:
        await bench.restart()
    go.touch()
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.exit_code, ended.after_warning, ended.cause) == (3, True, fields.EndCause.SELF)


async def test_an_exit_after_the_grace_of_a_warning_that_was_taken_back_is_its_own(bench):
    go = bench.place / "go"
    run = await bench.started(on_term_later(3), env={"GO": str(go)})
    stop = run.end(grace_ms=3000)
    bench.tell(stop)
    await bench.until(lambda: bench.memory.book.runs[run.session].warning, "the warning was sent")
    await bench.ask(run.about(messages.WithdrawCommand, stops=stop.command_id), messages.Withdrawn)
    await jobs.holds(lambda: True, 3)
    go.touch()
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.exit_code, ended.after_warning) == (3, False)


async def test_a_job_outlives_its_shepherd_stays_stopped_and_its_exit_status_is_unknown(bench):
    run = await bench.started(COUNTER)
    await bench.ask(run.suspend(), messages.Stopped)
    shepherd = run.shepherd
    processes.send(shepherd, signal.SIGKILL)
    await bench.until(lambda: not processes.is_alive(shepherd), "the shepherd is dead")

    assert {p.state for p in run.members} == {"T"}

    await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.Resumed)
    ended = await bench.ask(run.kill(epoch=2), messages.Ended)

    assert (ended.known, ended.exit_code, ended.signal) == (False, None, None)
    assert ended.cause is fields.EndCause.KILLED
    assert run.members == []


async def test_a_job_without_shepherd_that_ends_by_itself_is_swept_and_reported(bench):
    run = await bench.started(LEAVER.replace("ready()", "ready(); time.sleep(0.3)"))
    processes.send(run.shepherd, signal.SIGKILL)
    ended = await bench.report(messages.Ended, session=run.session)

    assert not ended.known
    assert run.members == []


async def test_agent_and_shepherd_dead_together_lose_nothing_but_the_exit_status(bench):
    run = await bench.started(COUNTER)
    shepherd = run.shepherd
    await bench.down()
    processes.send(shepherd, signal.SIGKILL)
    await bench.until(lambda: not processes.is_alive(shepherd), "the shepherd is dead")
    await bench.up()
    stopped = await bench.ask(run.suspend(), messages.Stopped)

    assert [m.pid for m in stopped.members] == [run.pid]


async def test_after_a_reboot_every_session_of_before_is_gone(bench):
    run = await bench.started(COUNTER)
    pid, shepherd = run.pid, run.shepherd
    await bench.down()
    bench.boot = "another-boot"
    await bench.up()
    ended = await bench.report(messages.Ended, session=run.session)

    assert (ended.known, ended.cause) == (False, fields.EndCause.GONE)
    assert processes.look(pid).state != "T"
    os.kill(pid, signal.SIGKILL)
    await bench.until(lambda: not processes.is_alive(shepherd), "the process of the test is gone")


@pytest.mark.parametrize("deaths", [1, 3])
async def test_a_dead_fork_server_is_replaced_by_the_next_start(bench, deaths):
    for _ in range(deaths):
        os.kill(bench.forks.pid, signal.SIGKILL)
        run = await bench.started(script="echo ready")
        await bench.report(messages.Ended, session=run.session, exit_code=0)


async def test_an_end_that_a_full_disk_kept_from_the_journal_is_reported_later(bench):
    run = await bench.started(on_term(6))
    shepherd = run.shepherd
    bench.memory.close()
    os.kill(run.pid, signal.SIGTERM)
    await bench.until(lambda: not processes.is_alive(shepherd), "the shepherd has left")
    beats = len(bench.reports(messages.Heartbeat))
    await bench.until(lambda: len(bench.reports(messages.Heartbeat)) > beats + 1, "the end was noticed")
    before = bench.reports(messages.Ended)
    bench.memory._journal.open()
    ended = await bench.report(messages.Ended, session=run.session)

    assert before == []
    assert (ended.exit_code, ended.known) == (6, True)


@pytest.mark.parametrize("kind", ["resume", "withdrawal"])
async def test_P02_what_an_agent_had_begun_to_continue_its_successor_continues_and_does_not_stop_again(
    bench, kind
):
    run = await bench.started()
    stop = run.suspend()
    await bench.ask(stop, messages.Stopped)
    resume = run.about(messages.ResumeCommand, epoch=2)
    withdrawal = run.about(messages.WithdrawCommand, stops=stop.command_id)
    begun, answer = (resume, messages.Resumed) if kind == "resume" else (withdrawal, messages.Withdrawn)
    bench.memory.accept(begun)
    await bench.restart()
    report = await bench.report(answer, command_id=begun.command_id)

    assert report.epoch == begun.epoch
    assert {p.state for p in run.members} <= {"S", "R"}


#: A daemon that left session and parent and began anew without its environment; it writes down who it is. LOWERS: what
#: it does to its limits before.
DAEMON = """
reader, writer = os.pipe()
def outer():
    os.setsid()
    def inner():
        LOWERS
        os.set_inheritable(writer, True)
        script = f"echo $$ > {os.environ['WHERE']}; echo >&{writer}; while :; do sleep 0.05; done"
        os.execve("/bin/sh", ["sh", "-c", script], {})
    fork(inner)
os.waitpid(fork(outer), 0); os.read(reader, 1); ready(); time.sleep(1000)
"""


async def a_daemon(bench, lowers="pass"):
    """Start a session with such a daemon; returns its run and the daemon as the kernel has it, whatever it bears."""
    where = bench.place / "daemon"
    run = await bench.started(DAEMON.replace("LOWERS", lowers), env={"WHERE": str(where)})
    daemon = processes.look(int(where.read_text()))

    assert daemon.session not in (run.pid, run.shepherd.pid)
    assert processes.environment(daemon.pid) == b""
    return run, daemon


async def lose_the_shepherd(bench, run):
    shepherd = processes.Identity(*records.read(run.directory / records.JOB)["shepherd"])
    processes.send(shepherd, signal.SIGKILL)
    await bench.until(lambda: not processes.is_alive(shepherd), "the shepherd is dead")


async def is_stopped_and_ended_with_it(bench, run, daemon):
    stopped = await bench.ask(run.suspend(), messages.Stopped)

    assert {run.pid, daemon.pid} <= {m.pid for m in stopped.members}
    assert processes.look(daemon.pid).state == "T"

    await bench.ask(run.kill(), messages.Ended)

    assert not processes.is_alive(daemon.identity)


async def test_a_daemon_without_environment_is_stopped_and_ended_after_the_shepherds_death(bench):
    run, daemon = await a_daemon(bench)
    await lose_the_shepherd(bench, run)

    await is_stopped_and_ended_with_it(bench, run, daemon)


@pytest.mark.parametrize("is_agent_away", [False, True])
async def test_a_daemon_that_shook_off_every_mark_is_remembered_from_before(bench, is_agent_away):
    run, daemon = await a_daemon(bench, "import resource; resource.setrlimit(10, (5, 5))")
    await bench.until((run.directory / records.LEFT).exists, "it was seen")
    if is_agent_away:
        await bench.down()
    await lose_the_shepherd(bench, run)
    if is_agent_away:
        await bench.up()

    await is_stopped_and_ended_with_it(bench, run, daemon)


async def test_a_daemon_whose_first_process_and_shepherd_are_gone_does_not_outlive_them(bench):
    run, daemon = await a_daemon(bench)
    await lose_the_shepherd(bench, run)
    os.kill(run.pid, signal.SIGKILL)
    await bench.report(messages.Ended, session=run.session)

    assert not processes.is_alive(daemon.identity)
