"""Whose last lines of output are sent next."""

import pytest

from scheduler.agent import records, tails


class Life:
    def __init__(self, path):
        self.output_path = path

    def write(self, text):
        with self.output_path.open("a") as file:
            file.write(text)

    def tail(self):
        return self.output_path.read_text()


@pytest.fixture
def now(monkeypatch):
    moment = [0]
    monkeypatch.setattr(records, "monotonic_ms", lambda: moment[0])
    return moment


@pytest.fixture
def lives(tmp_path):
    return {name: Life(tmp_path / name) for name in "abc"}


@pytest.fixture
def sent():
    return []


@pytest.fixture
def turns(lives, sent, now):
    def send(report):
        sent.append(report)
        return ("boot", len(sent))

    return tails.Tails(lives, send, patience_ms=1000)


def test_one_report_is_under_way_and_the_next_goes_when_it_was_heard(turns, lives, sent):
    for name, life in lives.items():
        life.write(name)
    turns.look()
    turns.look()

    assert sent == ["a"]

    turns.heard((("boot", 1),))
    turns.heard((("boot", 2), ("boot", 7)))

    assert sent == ["a", "b", "c"]


def test_what_is_written_meanwhile_waits_for_its_turn_and_goes_once(turns, lives, sent):
    lives["a"].write("1")
    lives["b"].write("2")
    turns.look()
    for _ in range(5):
        lives["a"].write("x")
        turns.look()
    for number in range(1, 5):
        turns.heard((("boot", number),))

    assert sent == ["1", "2", "1xxxxx"]


def test_nothing_new_is_nothing_to_send(turns, lives, sent):
    lives["a"].write("1")
    turns.look()
    turns.heard((("boot", 1),))
    turns.look()

    assert sent == ["1"]


def test_a_report_that_nobody_says_to_have_heard_holds_the_others_up_for_a_while_only(
    turns, lives, sent, now
):
    lives["a"].write("1")
    lives["b"].write("2")
    turns.look()
    now[0] = 999
    turns.look()

    assert sent == ["1"]

    now[0] = 1000
    turns.look()

    assert sent == ["1", "2"]


def test_a_session_that_ended_before_its_turn_loses_it(turns, lives, sent):
    for name, life in lives.items():
        life.write(name)
    turns.look()
    del lives["b"]
    turns.heard((("boot", 1),))

    assert sent == ["a", "c"]
