"""
Sentences that say what a waiting session lacks, from the facts of its headline: amounts asked, free, short and limited.

Source: DESIGN 7; ECOSYSTEM D.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.core import amounts, decisions, rooms

Plain = Mapping[str, Any]
Kinds = amounts.Kinds
_R = decisions.PendReason


def _under(facts: Plain, prefix: str) -> dict[str, int]:
    """Return the facts ``prefix.KIND`` by kind."""
    start = prefix + "."
    return {key.removeprefix(start): value for key, value in facts.items() if key.startswith(start)}


def _never_fits(facts: Plain, kinds: Kinds) -> str:
    asked, most = _under(facts, "asked"), _under(facts, "most")
    beyond = {kind: asked[kind] for kind in asked if asked[kind] > most.get(kind, 0)}
    start = "It can never run as asked:"
    if beyond:
        has = amounts.listed({kind: most.get(kind, 0) for kind in beyond}, kinds=kinds)
        needs = amounts.listed(beyond, kinds=kinds)
        return f"{start} it needs {needs} on one node, and the largest node{_labelled(facts)} has {has}."
    if facts.get("nodes", 1) > 1:
        large = facts.get("nodes.large", 0)
        enough = f"{facts['nodes']} nodes that are large enough{_labelled(facts)}"
        return f"{start} it needs {enough}, and this group has {large}."
    return f"{start} no single node of this group{_labelled(facts)} has all that it needs."


def _labelled(facts: Plain) -> str:
    return " with the labels that it requires" if "labels" in facts else ""


def _exceeds(whose: str) -> Callable[[Plain, Kinds], str]:
    def write(facts: Plain, kinds: Kinds) -> str:
        asked = amounts.listed(_under(facts, "asked"), kinds=kinds)
        limit = amounts.listed(_under(facts, "limit"), kinds=kinds)
        return f"It asks for {asked}, and {whose} limit is {limit}, so it can never start."

    return write


def _used_up(whose: str) -> Callable[[Plain, Kinds], str]:
    def write(facts: Plain, kinds: Kinds) -> str:
        limit, left, asked = (_under(facts, name) for name in ("limit", "left", "asked"))
        needs = amounts.listed({kind: asked[kind] for kind in limit}, kinds=kinds)
        of = amounts.listed(limit, kinds=kinds)
        return f"It needs {needs}, and {whose} limit of {of} leaves {amounts.listed(left, kinds=kinds)}."

    return write


def no_resources(facts: Plain, kinds: Kinds) -> str:
    """Say what is asked, and what is short of it on the nearest node."""
    asked, short = _under(facts, "asked"), _under(facts, "short")
    short = {rooms.PLACES if kind == "sessions" else kind: amount for kind, amount in short.items()}
    needs, nodes = amounts.listed(asked, kinds=kinds), facts.get("nodes", 1)
    if "resume" in facts:
        return _to_resume(facts, asked, short, kinds)
    if nodes > 1:
        return f"It needs {needs} on each of {nodes} nodes at once, {_on_several(facts, kinds)}."
    if not short:
        return f"It needs {needs} on one node, and no node that could hold it takes sessions now."
    if short.keys() == {rooms.PLACES}:
        return f"It needs {needs} on one node. {facts['nearest']} has that free, but no place for one more session."
    missing = amounts.listed(short, kinds=kinds)
    nearest = f"{facts['nearest']} is nearest, {missing} short."
    return f"It needs {needs} on one node. {_fragmented(facts, short, kinds)}{nearest}"


def _to_resume(facts: Plain, asked: Mapping[str, int], short: Mapping[str, int], kinds: Kinds) -> str:
    """Say what a suspended session lacks; one that holds all its slots still may lack a session place alone."""
    where = facts.get("nearest", "its node")
    needs = f" and needs {amounts.listed(asked, kinds=kinds)} back" if asked else ""
    missing = f": {amounts.listed(short, kinds=kinds)} short" if short else ", where it does not fit now"
    return f"It is suspended{needs} on {where}{missing}."


def _on_several(facts: Plain, kinds: Kinds) -> str:
    if "nodes.free" not in facts:
        return "and not enough nodes have that free now"
    total, count = amounts.listed(_under(facts, "free"), kinds=kinds), facts["nodes.free"]
    return f"and {count} {'node has' if count == 1 else 'nodes have'} that free now, of {total} in this group"


def _fragmented(facts: Plain, short: Mapping[str, int], kinds: Kinds) -> str:
    """Say it when there is enough of a kind in total, but not on one node."""
    asked, free, most = (_under(facts, name) for name in ("asked", "free", "most"))
    for kind in short:
        if kind in asked and most[kind] < asked[kind] <= free[kind]:
            total = amounts.one(kind, free[kind], kinds=kinds)
            best = amounts.bare(kind, most[kind], kinds=kinds)
            where = (
                "The nodes with the labels that it requires have" if "labels" in facts else "This group has"
            )
            return f"{where} {total} free, but never more than {best} together; "
    if all(free[kind] >= asked[kind] for kind in asked):
        return "All of it is free in this group, but not together on one node; "
    return ""


#: Who writes the sentence of a headline; facts and kinds as ``explain.pend_sentence`` has them.
WRITERS: Mapping[decisions.PendReason, Callable[[Plain, Kinds], str]] = {
    _R.NEVER_FITS: _never_fits,
    _R.EXCEEDS_OWNER_LIMIT: _exceeds("its owner's"),
    _R.EXCEEDS_QUEUE_LIMIT: _exceeds("the queue's"),
    _R.OWNER_LIMIT: _used_up("its owner's"),
    _R.QUEUE_LIMIT: _used_up("the queue's"),
    _R.NO_RESOURCES: no_resources,
    _R.FRAGMENTED: no_resources,
}
