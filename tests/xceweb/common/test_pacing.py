"""What costs much is slowed down: for one person, and in one process."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from scheduler import errors
from xceweb.common import pacing


@pytest.fixture
def what() -> str:
    """Something that nobody else counts."""
    return uuid.uuid4().hex


def test_after_so_many_times_one_has_to_wait_and_others_have_not(what: str) -> None:
    """And is told how long."""
    for _ in range(pacing.MOST):
        with pacing.turn(what, 1):
            pass

    with (
        pytest.raises(errors.TooOften, match="10 times in 60 seconds: wait") as refused,
        pacing.turn(what, 1),
    ):
        pass
    with pacing.turn(what, 2):
        pass

    assert 0 < refused.value.facts["wait_s"] <= pacing.WINDOW_S


def test_one_at_a_time(what: str) -> None:
    """The second is refused at once, and a refused or failed one frees the turn."""
    with (
        pytest.raises(errors.TooOften, match="under way just now"),
        pacing.turn(what, 1),
        pacing.turn(what, 2),
    ):
        pass
    with pytest.raises(ZeroDivisionError), pacing.turn(what, 1):
        raise ZeroDivisionError
    with pacing.turn(what, 3):
        pass


def test_without_redis_people_are_let_through(what: str, settings: Any) -> None:
    """The pages need the database alone."""
    settings.ENV = {**settings.ENV, "REDIS_URL": "redis://127.0.0.1:1/0"}

    for _ in range(pacing.MOST + 1):
        with pacing.turn(what, 1):
            pass
