"""One line of why."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.core import states
from scheduler.selectors import verdicts


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"state": "pending"}, "Not looked at yet"),
        ({"state": "pending", "is_held": True}, "Held"),
        ({"state": "running"}, ""),
        ({"state": "suspended"}, "Suspended to make room; goes on by itself"),
        ({"state": "suspended", "is_held": True}, "Suspended by a person; goes on after a release"),
        ({"state": "scheduled", "is_resume": True}, "Being resumed"),
        ({"state": "scheduled"}, "Being started"),
        ({"state": "terminated", "result": "success"}, ""),
        ({"state": "terminated", "result": "failure", "exit_code": 3}, "Exit code **3**"),
        ({"state": "terminated", "result": "failure", "exit_signal": 9}, "Ended by **SIGKILL**"),
        ({"state": "terminated", "result": "failure"}, "Failed"),
        (
            {"state": "terminated", "result": "preempted"},
            "Stopped to make room; does not start again by itself",
        ),
    ],
)
def test_the_line_says_what_the_state_does_not(fields: dict[str, object], line: str) -> None:
    """Empty where the state says it all."""
    assert verdicts.line(models.Session(**fields)) == line


def test_no_state_and_no_result_breaks_the_list() -> None:
    """Every value of both enums has a line, if an empty one."""
    for state in states.SessionState:
        for result in ("", *states.Result):
            assert isinstance(verdicts.line(models.Session(state=state.value, result=str(result))), str)
