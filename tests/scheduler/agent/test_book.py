"""What the agent knows, from its journal; the compacted journal says the same."""

import json

import pytest

from scheduler.agent import book, processes, runs
from scheduler.protocol import codec, messages
from tests.scheduler.agent import bench as benches

START = benches.a_start()
STOP_ID = benches.new_id()
ENDED = messages.Ended(
    exit_code=0, signal=None, after_warning=False, checkpointed=False, cpu_ms=1, peak_bytes=2, ran_ms=3,
    known=True, cause="self",
)  # fmt: skip


def command(message):
    return {"kind": "command", "body": codec.encode(message)}


def about(cls, **more):
    return cls(**{"command_id": benches.new_id(), "session": START.session, "epoch": 1} | more)


def report(message, seq=1, *, command_id="", epoch=1, at=5000):
    plain = codec.encode(message) | {"session": START.session, "epoch": epoch, "command_id": command_id}
    return {"kind": "report", "boot": "b", "seq": seq, "body": plain | {"at_mono_ms": at}}


def stop(*, is_kill=False, begun_ms=3000, grace_ms=1000, command_id=STOP_ID):
    plain = {"command_id": command_id, "is_kill": is_kill, "signal": 15, "grace_ms": grace_ms}
    plain |= {"suspend_grace_ms": 0, "begun_ms": begun_ms, "cause": "killed", "kill_begun": False}
    return {"kind": "stop", "session": START.session, "stop": plain}


LAUNCHED = {
    "kind": "launched", "session": START.session, "boot": "b", "shepherd": [10, 1], "job": [11, 2], "mono_ms":
    1000
}  # fmt: skip
STARTED = report(messages.Started(pid=11, started_mono_ms=1000, boot="b"), 1, command_id=START.command_id)
STOPPED = report(
    messages.Stopped(method="signals", members=(), cpu_ms=0, warned=False, waited_ms=1), 2,
    command_id=STOP_ID, at=4000
)  # fmt: skip
RESUMED = report(messages.Resumed(members=()), 3, epoch=2, at=9000)
BEGUN = [command(START), LAUNCHED, STARTED]
UNWARNED = stop(is_kill=True) | {"warning": None}
WARNED = {"kind": "warned", "session": START.session, "warning": {"delivered": True, "until_ms": 6500}}
WITHDRAWAL = command(about(messages.WithdrawCommand, stops=STOP_ID))
WITHDRAWN = report(messages.Withdrawn(), 6)
HISTORIES = {
    "accepted": BEGUN[:1],
    "running": BEGUN,
    "stopping": [*BEGUN, stop()],
    "kill begun": [*BEGUN, stop(is_kill=True), {"kind": "kill-begun", "session": START.session}],
    "warned": [*BEGUN, UNWARNED, WARNED],
    "withdrawn after the warning": [*BEGUN, UNWARNED, WARNED, WITHDRAWAL, WITHDRAWN],
    "resume failed": [*BEGUN, stop(), STOPPED, report(messages.ResumeFailed(error="e"), 5, epoch=2)],
    "suspended": [*BEGUN, stop(), STOPPED],
    "resuming": [*BEGUN, stop(), STOPPED, command(about(messages.ResumeCommand, epoch=2))],
    "resumed": [*BEGUN, stop(), STOPPED, RESUMED],
    "ended": [*BEGUN, report(ENDED, 4)],
    "cancelled": [command(about(messages.CancelStartCommand, epoch=7))],
    "withdrawn": [*BEGUN, command(about(messages.WithdrawCommand, stops=STOP_ID))],
    "acknowledged": [*BEGUN, {"kind": "ack", "reports": [["b", 1]]}],
}


def made_of(entries):
    one = book.Book()
    for entry in json.loads(json.dumps(entries)):
        one.apply(entry)
    return one


def run_of(name):
    return made_of(HISTORIES[name]).runs[START.session]


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_P03_a_compacted_journal_says_the_same(history):
    one = made_of(history)
    again = made_of(one.dump())

    assert vars(again) == vars(one)


@pytest.mark.parametrize(
    ("name", "state"),
    [("accepted", "starting"), ("running", "running"), ("stopping", "stopping"), ("kill begun", "stopping"),
     ("suspended", "suspended"), ("resumed", "running"), ("ended", "ended")],
)  # fmt: skip
def test_the_state_of_a_run_follows_from_its_history(name, state):
    assert run_of(name).state == state


def test_a_launched_run_has_identities_and_counts_its_time():
    run = run_of("running")

    assert (run.shepherd, run.job) == (processes.Identity(10, 1), processes.Identity(11, 2))
    assert run.running_ms(1600) == 600


def test_a_warning_is_known_from_its_entry_on_and_counts_for_its_grace_once_taken_back():
    assert made_of([*BEGUN, UNWARNED]).runs[START.session].warning is None
    assert run_of("warned").warning == runs.Warned(True, 6500)
    assert run_of("withdrawn after the warning").warning == runs.Warned(True, 6500)


def test_a_stop_of_an_agent_that_wrote_no_warnings_counts_as_warned():
    assert run_of("stopping").warning == runs.Warned(True, 3000)


def test_a_failed_resume_raises_the_epoch_and_leaves_the_session_suspended():
    run = run_of("resume failed")

    assert (run.epoch, run.state) == (2, "suspended")


def test_suspended_time_does_not_count():
    assert run_of("suspended").running_ms(8000) == 3000
    assert run_of("resumed").running_ms(9500) == 3500


def test_a_resume_raises_the_epoch_and_keeps_the_directory():
    run = run_of("resumed")

    assert (run.epoch, run.key, run.suspended_by) == (2, (START.session, 1), "")


def test_a_suspended_run_knows_the_stop_that_may_be_withdrawn():
    assert run_of("suspended").suspended_by == STOP_ID


def test_the_fence_only_rises():
    one = made_of([command(about(messages.ResumeCommand, epoch=n)) for n in (3, 9, 4)])

    assert one.fence == {START.session: 9}


def test_answers_are_remembered_with_their_command():
    one = made_of(HISTORIES["suspended"])

    assert one.answers[STOP_ID] == codec.decode(STOPPED["body"])


def test_a_report_about_an_older_run_does_not_touch_the_newer_one():
    newer = benches.a_start(session=START.session, epoch=2)
    one = made_of([*BEGUN, command(newer), report(ENDED, 9, epoch=1)])

    assert one.runs[START.session].state == "starting"


def test_an_answer_withdrawn_to_an_unknown_stop_does_not_wake_a_suspended_run():
    one = made_of([*HISTORIES["suspended"], report(messages.Withdrawn(), 9, command_id=benches.new_id())])

    assert one.runs[START.session].state == "suspended"


def test_a_failed_start_leaves_no_run():
    one = made_of([command(START), report(messages.StartFailed(error="x"), command_id=START.command_id)])

    assert one.runs == {}


@pytest.mark.parametrize(
    ("name", "held"), [("accepted", []), ("running", ["running"]), ("suspended", ["suspended"]), ("ended",
    ["ended"])]
)  # fmt: skip
def test_what_is_held_leaves_out_starts_under_way(name, held):
    assert [s.state for s in made_of(HISTORIES[name]).held()] == held


def test_an_acknowledged_end_is_held_no_longer():
    one = made_of([*HISTORIES["ended"], {"kind": "ack", "reports": [["b", 4]]}])

    assert one.held() == []


def test_commands_without_a_trace_are_forgotten_so_that_they_can_be_sent_again():
    resume, kill = about(messages.ResumeCommand, epoch=2), about(messages.KillCommand, cause="cancelled")
    one = made_of([*HISTORIES["running"], command(resume), command(kill)])
    one.answers[STOP_ID] = one.answers[START.command_id]
    one.drop_unfinished()

    assert resume.command_id not in one.answers
    assert kill.command_id not in one.answers
    assert STOP_ID in one.answers


def test_a_start_and_a_stop_under_way_are_not_forgotten():
    starting, stopping = made_of(HISTORIES["accepted"]), made_of([*BEGUN, stop()])
    stopping.answers[STOP_ID] = None
    starting.drop_unfinished()
    stopping.drop_unfinished()

    assert START.command_id in starting.answers
    assert STOP_ID in stopping.answers


def test_forgetting_a_session_lifts_its_fence_over_it():
    one = made_of(HISTORIES["ended"])
    one.forget(START.session)

    assert (one.runs, one.answers) == ({}, {})
    assert one.fence == {START.session: 2}


def test_an_entry_of_a_later_version_is_not_guessed_at():
    with pytest.raises(ValueError, match="does not know: novelty"):
        made_of([{"kind": "novelty"}])


def a_resume(epoch=2):
    return about(messages.ResumeCommand, epoch=epoch)


def a_withdrawal():
    return about(messages.WithdrawCommand, stops=STOP_ID)


@pytest.mark.parametrize(
    ("entries", "begun"),
    [
        (HISTORIES["suspended"], a_resume()),
        (HISTORIES["suspended"], a_withdrawal()),
        (HISTORIES["stopping"], a_withdrawal()),
    ],
    ids=["resume", "withdrawal of a suspend", "withdrawal of a stop"],
)
def test_p02_what_was_being_continued_is_known_after_a_restart_and_not_asked_for_again(entries, begun):
    one = made_of([*entries, command(begun)])
    one.drop_unfinished()

    assert one.runs[START.session].continuing == (begun.command_id, begun.epoch)
    assert one.answers[begun.command_id] is None


@pytest.mark.parametrize("end", ["answer", "cancel", "stop"])
def test_a_continuation_ends_with_its_answer_its_cancel_or_another_stop(end):
    begun = a_resume()
    ends = {
        "answer": report(messages.ResumeFailed(error="no"), 9, command_id=begun.command_id, epoch=2),
        "cancel": command(about(messages.CancelStartCommand, epoch=2)),
        "stop": stop(is_kill=True),
    }
    one = made_of([*HISTORIES["suspended"], command(begun), ends[end]])

    assert one.runs[START.session].continuing is None


def test_a_resume_of_what_runs_continues_nothing():
    assert made_of([*BEGUN, command(a_resume())]).runs[START.session].continuing is None


def test_p02_an_answer_that_is_given_again_changes_nothing_about_a_kill_under_way():
    resume = a_resume()
    resumed = RESUMED | {"body": RESUMED["body"] | {"command_id": resume.command_id}}
    kill = stop(is_kill=True, command_id=benches.new_id())
    story = [*HISTORIES["suspended"], command(resume), resumed, kill]
    one, told_again = made_of(story), made_of([*story, resumed | {"seq": 99}])

    assert told_again.runs == one.runs
    assert ("b", 99) in told_again.outbox


def test_p02_an_answer_that_is_given_again_changes_nothing_about_a_resume_under_way():
    story = [*HISTORIES["suspended"], command(a_resume())]
    one, told_again = made_of(story), made_of([*story, STOPPED | {"seq": 99}])

    assert one.runs[START.session].continuing
    assert told_again.runs == one.runs
