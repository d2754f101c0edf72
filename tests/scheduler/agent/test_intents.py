"""Stops made from commands and limits."""

import pytest

from scheduler.agent import intents, runs
from scheduler.protocol import fields, messages
from tests.scheduler.agent import bench as benches

ABOUT = {"command_id": benches.new_id(), "session": benches.new_id(), "epoch": 1}


@pytest.mark.parametrize(
    ("action", "signal", "expected"),
    [
        ("suspend", 0, (False, 20)),
        ("suspend", 10, (False, 10)),
        ("kill", 0, (True, 15)),
        ("kill", 2, (True, 2)),
    ],
)
def test_a_stop_command_says_what_is_done_and_which_signal_warns(action, signal, expected):
    command = messages.StopCommand(**ABOUT, action=action, mode="suspend", signal=signal, suspend_grace_ms=7)
    stop = intents.of_stop(messages.StopCommand(**vars(command) | {"action": fields.StopAction(action)}))

    assert (stop.is_kill, stop.signal) == expected
    assert (stop.command_id, stop.grace_ms, stop.suspend_grace_ms) == (ABOUT["command_id"], 10_000, 7)


@pytest.mark.parametrize(("cause", "expected"), [("wall-time", "wall-time"), ("cancelled", "killed")])
def test_a_kill_says_why_a_session_ended(cause, expected):
    stop = intents.of_kill(messages.KillCommand(**ABOUT, cause=fields.KillCause(cause), grace_ms=5))

    assert (stop.is_kill, stop.signal, stop.grace_ms, stop.cause) == (True, 15, 5, expected)


def test_a_wall_time_limit_warns_as_the_session_asked():
    stop = intents.of_limit(benches.a_start(warn_signal=10, grace_ms=3))

    assert (stop.command_id, stop.signal, stop.grace_ms, stop.cause) == ("", 10, 3, "wall-time")


def test_a_run_that_was_given_up_is_killed_without_a_warning():
    stop = intents.at_once()

    assert (stop.is_kill, stop.signal, stop.grace_ms) == (True, 9, 0)


def test_a_later_kill_can_only_make_a_kill_earlier():
    old = runs.Stop("a", True, 15, 5000, 0, 1000, fields.EndCause.WALL_TIME)
    sooner = runs.Stop("b", True, 9, 100, 0, 2000, fields.EndCause.KILLED)
    later = runs.Stop("", True, 9, 90_000, 0, 2000, fields.EndCause.KILLED)
    suspend = runs.Stop("c", False, 20, 0, 0, 2000, fields.EndCause.KILLED)

    assert (intents.merge_kill(old, sooner).grace_ms, intents.merge_kill(old, sooner).command_id) == (
        1100,
        "b",
    )
    assert (intents.merge_kill(old, later).grace_ms, intents.merge_kill(old, later).command_id) == (5000, "a")
    assert intents.merge_kill(old, suspend).is_kill
    assert intents.merge_kill(old, sooner).cause is fields.EndCause.WALL_TIME
