"""
Who may preempt whom among queues, as a graph: its cycles, and an order from those who take to those who give.

Pure; a graph is name -> the names of the queues from which it may preempt. Source: DESIGN 2 (``preemptible_queues``).
"""

from __future__ import annotations

import collections
import graphlib
from collections.abc import Collection, Mapping

Takes = Mapping[str, Collection[str]]
Cycle = tuple[str, ...]


def cycles(takes: Takes) -> list[Cycle]:
    """
    Return the cycles by length and names, each from its first name on: ``("a", "b")`` = a takes from b, and b from a.

    For each step that lies on any cycle a shortest one through it; so the list is empty exactly when there is none.
    """
    found = set()
    for taker, givers in takes.items():
        for giver in givers:
            way = _shortest_way(takes, giver, taker)
            if way:
                found.add(_from_first(way))
    return sorted(found, key=lambda cycle: (len(cycle), cycle))


def _shortest_way(takes: Takes, start: str, end: str) -> list[str]:
    """Return the names from ``start`` to ``end``, both included; empty = there is no way."""
    before: dict[str, str] = {}
    waiting, seen = collections.deque([start]), {start}
    while waiting:
        name = waiting.popleft()
        if name == end:
            return _walked(before, end)
        for following in sorted(takes.get(name, ())):
            if following not in seen:
                seen.add(following)
                before[following] = name
                waiting.append(following)
    return []


def _walked(before: Mapping[str, str], end: str) -> list[str]:
    way = [end]
    while way[-1] in before:
        way.append(before[way[-1]])
    return way[::-1]


def _from_first(way: list[str]) -> Cycle:
    place = way.index(min(way))
    return tuple(way[place:] + way[:place])


def on_cycle(found: Collection[Cycle]) -> set[tuple[str, str]]:
    """Return the steps of cycles as pairs (taker, giver)."""
    return {pair for cycle in found for pair in zip(cycle, (*cycle[1:], cycle[0]), strict=True)}


def ranking(takes: Takes) -> list[str]:
    """
    Return all names, whoever takes before those from whom they take; names that share a cycle stand together.

    So a step leads back up only where it lies on a cycle. Queues without an order between them come by name.
    """
    names = {*takes, *(giver for givers in takes.values() for giver in givers)}
    reached = {name: _reached(takes, name) for name in names}
    circle = {
        name: min({name, *(other for other in reached[name] if name in reached[other])}) for name in names
    }
    sorter: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter(dict.fromkeys(circle.values(), ()))
    for taker, givers in takes.items():
        for giver in givers:
            if circle[taker] != circle[giver]:
                sorter.add(circle[giver], circle[taker])
    sorter.prepare()
    ranked: list[str] = []
    while sorter.is_active():
        heads = sorted(sorter.get_ready())
        ranked += [name for head in heads for name in sorted(names) if circle[name] == head]
        sorter.done(*heads)
    return ranked


def _reached(takes: Takes, start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for following in takes.get(waiting.pop(), ()):
            if following not in reached:
                reached.add(following)
                waiting.append(following)
    return reached
