"""Faults of one request, collected so that all are reported at once."""

from __future__ import annotations

import pytest

from scheduler import errors
from scheduler.services import faults, session_requests


def _refuse():
    raise errors.Refusal(code="too-much", fields={"slots": "ask for less"})


def test_the_first_fault_of_a_field_stays():
    found = faults.Faults()
    found.add("name", "is missing")
    found.add("name", "is too long")

    assert found == {"name": "is missing"}


def test_a_refused_call_is_collected_and_answers_nothing():
    found = faults.Faults()

    assert found.attempt(_refuse) is None
    assert found.attempt(lambda: 7) == 7
    assert found == {"slots": "ask for less"}


def test_all_are_raised_together_under_the_first_code():
    found = faults.Faults()
    found.attempt(_refuse)
    found.add("job_priority", "must be a number")

    with pytest.raises(
        errors.Refusal, match=r"slots: ask for less\. job priority: must be a number\."
    ) as caught:
        found.raise_if_any()

    assert caught.value.code == "too-much"


def test_nothing_is_raised_without_faults():
    faults.Faults().raise_if_any()


def test_a_command_line_is_split_as_a_shell_would():
    assert session_requests.split_command("train --name 'two words'") == ["train", "--name", "two words"]
    with pytest.raises(errors.Refusal, match="cannot be read"):
        session_requests.split_command("train 'open")
