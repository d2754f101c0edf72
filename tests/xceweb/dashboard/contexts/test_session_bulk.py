"""What is asked before an action on many sessions, and what is told after it."""

from __future__ import annotations

from scheduler.selectors import sessions
from scheduler.services import many
from tests import worlds
from xceweb.dashboard.contexts import session_bulk


def test_every_action_has_its_words_and_its_way() -> None:
    """The list offers what the service can do; what destroys is marked."""
    menu = session_bulk.menu()

    assert session_bulk.WORDS.keys() == many.ACTIONS.keys()
    assert [one["label"] for one in menu if one["is_dangerous"]] == ["Requeue", "Cancel"]
    assert menu[0]["url"] == "/sessions/act/hold/"


def test_a_question_counts_whom_the_viewer_may_act_on(world: worlds.World) -> None:
    """The others are left out, with their number."""
    viewer = world.people["viewer"]
    rows = sessions.page(viewer, sessions.Filters()).rows

    found = session_bulk.question("cancel", rows, back="")

    assert (found["number"], found["left_out"], found["rows"]) == (0, 3, [])
    assert (found["back_url"], found["takes_reason"]) == ("/sessions/", True)


def test_an_answer_counts_what_was_done(world: worlds.World) -> None:
    """Each row has its own refusal."""
    rows = sessions.page(world.people["owner"], sessions.Filters()).rows
    outcomes = [many.Outcome(world.waiting), many.Outcome(world.running, "It runs.")]

    found = session_bulk.answer("hold", rows, outcomes, back="state=alive")

    assert (found["number"], found["total"], found["back_url"]) == (1, 2, "/sessions/?state=alive")
    assert {row["name"]: row["refusal"] for row in found["rows"]}["high-work"] == "It runs."
