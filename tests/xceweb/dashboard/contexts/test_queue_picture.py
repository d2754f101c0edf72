"""The picture of who may preempt whom."""

from __future__ import annotations

import re

from scheduler.selectors import queue_rules
from xceweb.dashboard.contexts import queue_picture


def _draw(preemptible, **takes):
    rules = [
        queue_rules.Rule(name, 1, name in preemptible, frozenset(givers.split()), frozenset({1}), "", None)
        for name, givers in takes.items()
    ]
    return queue_picture.draw(rules)


def _arcs(picture):
    return {(arc.taker, arc.giver): arc.kind for arc in picture.arcs}


def _x_and_handle(arc):
    start, handle = re.match(r"M(-?\d+) \d+C(-?\d+) ", arc.path).groups()
    return int(start), int(handle)


def test_without_rules_there_is_nothing_to_draw():
    assert _draw("low", high="", low="") is None


def test_who_takes_stands_above_those_from_whom_they_take_and_arrows_lead_down_on_the_right():
    picture = _draw(["low", "mid"], low="", mid="low", high="low mid", other="")

    assert [box.name for box in picture.boxes] == ["high", "mid", "low"]
    assert [box.y for box in picture.boxes] == sorted(box.y for box in picture.boxes)
    assert _arcs(picture) == {("high", "low"): "plain", ("high", "mid"): "plain", ("mid", "low"): "plain"}
    for arc in picture.arcs:
        start, handle = _x_and_handle(arc)
        assert start == picture.boxes[0].x + picture.box_width
        assert handle > start


def test_an_arrow_on_the_left_closes_a_cycle():
    picture = _draw(["a", "b"], a="b", b="a")

    assert _arcs(picture) == {("a", "b"): "cycle", ("b", "a"): "cycle"}
    up = next(arc for arc in picture.arcs if arc.taker == "b")
    start, handle = _x_and_handle(up)
    assert handle < start == picture.boxes[0].x


def test_a_rule_without_effect_is_drawn_as_such_and_closes_no_cycle():
    picture = _draw(["b"], a="b", b="a")

    assert _arcs(picture) == {("a", "b"): "plain", ("b", "a"): "idle"}


def test_everything_stays_inside():
    names = [f"queue-{number:02}" for number in range(20)]
    takes = {name: " ".join(set(names[::3]) - {name}) for name in names}
    picture = _draw(names, **takes)

    for box in picture.boxes:
        assert box.x >= 0
        assert box.x + picture.box_width <= picture.width
        assert 0 <= box.y <= box.y + picture.box_height <= picture.height
    for arc in picture.arcs:
        start, handle = _x_and_handle(arc)
        assert 0 <= start + (handle - start) * 3 / 4 <= picture.width
