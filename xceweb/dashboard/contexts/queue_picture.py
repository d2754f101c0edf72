"""
Who may preempt whom as a picture: queues below each other, whoever takes above those from whom they take.

An arrow on the right leads down. One on the left leads up, and does so only where queues may preempt each other: it
closes a cycle. All geometry is computed here, in user units of the drawing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from scheduler.core.preemption import queue_graph
from scheduler.selectors import queue_rules

_STEP, _HIGH, _TOP = 54, 32, 20
_LETTER, _PADDING, _NARROWEST = 8, 28, 96
_APART = 7  #: arrows that come and those that go meet a box so far from its middle
_NEAREST, _FURTHER, _FURTHEST, _EDGE = 26, 12, 150, 10


@dataclasses.dataclass(frozen=True, slots=True)
class Box:
    """A queue: its rectangle, and where its name stands."""

    name: str
    x: int
    y: int
    text_x: int
    text_y: int


@dataclasses.dataclass(frozen=True, slots=True)
class Arc:
    """An arrow from a queue to one from which it may preempt; ``kind`` is plain, cycle or idle (without effect)."""

    taker: str
    giver: str
    kind: str
    path: str


@dataclasses.dataclass(frozen=True, slots=True)
class Picture:
    """The whole drawing."""

    width: int
    height: int
    box_width: int
    box_height: int
    boxes: tuple[Box, ...]
    arcs: tuple[Arc, ...]
    kinds: tuple[str, ...] = ("plain", "cycle", "idle")  #: of arrows, each with a tip of its own


def draw(rules: Iterable[queue_rules.Rule]) -> Picture | None:
    """Return the picture of those queues that preempt or are named by one that does; None = there are none."""
    rules = list(rules)
    listed = {rule.name: sorted(rule.takes) for rule in rules if rule.takes}
    if not listed:
        return None
    effect = queue_rules.in_effect(rules)
    on_cycle = queue_graph.on_cycle(queue_graph.cycles(effect))
    ranked = _ranked(listed, effect)
    places = {name: place for place, name in enumerate(ranked)}
    steps = [(taker, giver) for taker in ranked for giver in listed.get(taker, ())]
    spans = {step: places[step[1]] - places[step[0]] for step in steps}
    left = max((_reach(span) for span in spans.values() if span < 0), default=0) + _EDGE
    right = max((_reach(span) for span in spans.values() if span > 0), default=0) + _EDGE
    wide = max(_NARROWEST, _LETTER * max(len(name) for name in ranked) + _PADDING)
    arcs = [
        Arc(*step, _kind(step, effect, on_cycle), _path(places[step[0]], places[step[1]], (left, wide)))
        for step in steps
    ]
    boxes = [
        Box(name, left, _middle(place) - _HIGH // 2, left + wide // 2, _middle(place) + 5)
        for name, place in places.items()
    ]
    height = _middle(len(ranked) - 1) + _TOP
    return Picture(left + wide + right, height, wide, _HIGH, tuple(boxes), tuple(arcs))


def _ranked(listed: queue_graph.Takes, effect: queue_graph.Takes) -> list[str]:
    """Return the queues that are drawn, by what takes effect: what has none bends no order."""
    drawn = {*listed, *(giver for givers in listed.values() for giver in givers)}
    return [name for name in queue_graph.ranking(effect) if name in drawn]


def _kind(step: tuple[str, str], effect: queue_graph.Takes, on_cycle: set[tuple[str, str]]) -> str:
    if step in on_cycle:
        return "cycle"
    return "plain" if step[1] in effect[step[0]] else "idle"


def _middle(place: int) -> int:
    return _TOP + place * _STEP


def _reach(span: int) -> int:
    """Return how far an arrow over so many places swings out."""
    return min(_NEAREST + _FURTHER * (abs(span) - 1), _FURTHEST)


def _path(start: int, end: int, at: tuple[int, int]) -> str:
    """Return a curve that leaves a box and comes back to another on the same side; three quarters of its handle."""
    left, wide = at
    down = end > start
    x = left + wide if down else left
    handle = x + (1 if down else -1) * _reach(end - start) * 4 // 3
    leaves, comes = (_APART, -_APART) if down else (-_APART, _APART)
    y, to = _middle(start) + leaves, _middle(end) + comes
    return f"M{x} {y}C{handle} {y} {handle} {to} {x} {to}"
