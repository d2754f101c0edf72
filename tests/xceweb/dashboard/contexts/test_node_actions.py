"""What draining a node means, in sentences."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from scheduler.selectors import drains
from xceweb.dashboard.contexts import node_actions

START = "Nothing new starts there. "


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (drains.Preview(0, None, 0, 0, 0), "Nothing runs there."),
        (drains.Preview(1, None, 0, 0, 0), "1 session goes on."),
        (drains.Preview(2, None, 0, 0, 0), "2 sessions go on, at least one of them without a time limit."),
        (
            drains.Preview(0, None, 2, 1, 0),
            "Nothing runs there. 2 sessions suspended there may resume all the same. 1 preemption or wait for room"
            " there: taken back, where the stop has not gone too far.",
        ),
        (
            drains.Preview(0, None, 0, 3, 1),
            "Nothing runs there. 3 preemptions and waits for room there: taken back, where the stop has not gone too"
            " far. 1 session that waits could start on no other node that is ready.",
        ),
    ],
)
def test_each_number_has_its_sentence(found: drains.Preview, text: str) -> None:
    """Nothing is said of what is not there."""
    assert node_actions.consequences(found) == START + text


def test_a_known_end_is_said_as_the_time_that_is_left() -> None:
    """Wall times of all that runs there are known."""
    soon = timezone.now() + datetime.timedelta(days=2, minutes=1)

    assert node_actions.consequences(drains.Preview(2, soon, 0, 0, 0)) == (
        f"{START}2 sessions go on, for at most 2 d 00:00."
    )
