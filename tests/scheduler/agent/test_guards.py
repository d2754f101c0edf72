"""A duty that fails stops no other and fills no log."""

import logging

from scheduler.agent import guards


def fails(text):
    def act():
        raise OSError(text)

    return act


def test_what_fails_alike_is_told_once_and_its_end_too(caplog):
    guard = guards.Guard()
    with caplog.at_level(logging.INFO):
        for act in (fails("full"), fails("full"), fails("broken"), int, int, fails("full")):
            guard.run("the duty", act)

    assert [(r.levelname, r.message.partition(" failed")[0]) for r in caplog.records] == [
        ("ERROR", "the duty"),
        ("ERROR", "the duty"),
        ("INFO", "the duty works again"),
        ("ERROR", "the duty"),
    ]


def test_two_duties_are_told_apart_and_done_ones_forgotten(caplog):
    guard = guards.Guard()
    for duty in ("one", "two"):
        guard.run(duty, fails("full"))
    guard.keep({"one"})
    for duty in ("one", "two"):
        guard.run(duty, fails("full"))

    assert [r.message.split()[0] for r in caplog.records] == ["one", "two", "two"]
