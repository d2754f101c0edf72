"""What expectations may say in words: each phrase true, false, or not known."""

from __future__ import annotations

import types

import pytest

from scheduler.scenarios import history, phrases


def seen(**more) -> history.History:
    """Return a history of one session `p` that was never decided for, with nothing looked at."""
    values = {"sessions": {"p": None}, "looks": [], "remarks": [], "preemptions": lambda name=None: []}
    return types.SimpleNamespace(**values | more)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("PENDING", True),
        ("RUNNING", False),
        ("RUNNING or PENDING", True),
        ("PENDING: for lack of room", True),
        ("happy", None),
        ("happy or PENDING", True),
        ("happy or RUNNING", None),
        ("a second decision made", False),
        ("RUNNING or a decision made", False),
    ],
)
def test_a_state_is_one_of_those_named(text, holds):
    assert phrases.of_session(text, "p", "PENDING", seen()) is holds


def test_where_it_runs_is_that_of_the_moment_which_is_asked_about():
    then = look(states={"p": "RUNNING"}, nodes={"p": ["n1"]})
    now = seen(nodes_of=lambda name: ["n2"])

    assert phrases.of_session("RUNNING on n1", "p", "RUNNING", now, then)
    assert not phrases.of_session("RUNNING on n2", "p", "RUNNING", now, then)
    assert phrases.of_session("RUNNING on n2", "p", "RUNNING", now)


@pytest.mark.parametrize(
    ("text", "got", "holds"),
    [
        (3, 3, True),
        (3, 4, False),
        ("<= 5", 5, True),
        ("< 5", 5, False),
        (">= 5", 5, True),
        ("> 5", 5, False),
        ("= 5", 5, True),
        ("few", 5, None),
        (True, 1, None),
    ],
)
def test_a_number_is_equal_or_compared(text, got, holds):
    assert phrases.number(text, got) is holds


def look(**more) -> history.Look:
    """Return a look after a round in which `p` waits."""
    values = {"step": 1, "is_tick": True, "states": {"p": "PENDING"}, "used": {}, "kept": {}}
    return history.Look(**values | {"waits": {}, "decisions": frozenset()} | more)


@pytest.mark.parametrize(
    ("used", "holds"),
    [({"n1": {"cpu": 4000}}, True), ({"n1": {"cpu": 4001}}, False), ({"n1": {"cpu": 1, "mem": 1}}, None)],
)
def test_never_more_than_a_node_has_is_about_its_one_kind(used, holds):
    assert phrases.never("used(n1) above 4", seen(looks=[look(used=used)])) is holds


@pytest.mark.parametrize(("promised", "holds"), [({"cpu": 3}, True), ({"cpu": 2}, False), ({}, False)])
def test_a_promise_can_be_kept_when_what_is_drawn_and_what_is_to_come_suffice(promised, holds):
    kept = history.Kept("n1", {"cpu": 1}, {"cpu": 4}, promised)
    story = seen(looks=[look(kept={"p": kept})])

    assert phrases.never("p pending with a promise nobody can keep", story) is holds


@pytest.mark.parametrize(
    ("kept", "made", "holds"),
    [({}, [1], False), ({}, [], True), ({"p": history.Kept("n1", {}, {}, {})}, [1], True)],
)
def test_nobody_waits_for_ever_after_a_decision_that_is_over(kept, made, holds):
    story = seen(looks=[look(kept=kept)], preemptions=lambda name=None: made)

    assert phrases.never("p pending for ever with the flag 'already triggered'", story) is holds


@pytest.mark.parametrize("text", ["the moon falls", "q pending with a promise nobody can keep"])
def test_what_is_in_no_list_is_not_known(text):
    assert phrases.never(text, seen(looks=[look()])) is None
    assert phrases.said("the cat is flagged to the admin", seen()) is None
    assert phrases.waits_since("slots are scarce", "p", seen()) is None
