"""
Pure judges of a history. Each returns a sentence for every fault; an empty list is a history without one.

What is unknown is possible both ways: a session whose submit was never answered may be there or not.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence

from scheduler.core import states
from tests.history import lines

_WAYS = {(before.value, after.value) for (before, _), after in states.TRANSITIONS.items()}
_BIRTH = "session.submitted"


def conservation(calls: Iterable[lines.Call], stored: Mapping[str, str]) -> list[str]:
    """
    Judge that sessions in = sessions out: nobody was lost, nobody came from nowhere, nobody is there twice.

    Args:
        stored: name -> state of every session that there is.
    """
    submits = {call.session: call.outcome for call in calls if call.what == "submit"}
    lost = [name for name, outcome in submits.items() if outcome == lines.OK and name not in stored]
    refused = [name for name, outcome in submits.items() if outcome == lines.FAILED and name in stored]
    strange = sorted(set(stored) - set(submits))
    return (
        [f"{name} was accepted and is not there" for name in lost]
        + [f"{name} was refused and is there" for name in refused]
        + [f"{name} is there and nobody submitted it" for name in strange]
    )


def rest(stored: Mapping[str, str], *, resting: frozenset[str]) -> list[str]:
    """Judge that every session has come to rest."""
    return [f"{name} is {state} still" for name, state in sorted(stored.items()) if state not in resting]


def numbers(told: Sequence[lines.Told], *, last: int) -> list[str]:
    """Judge that events are numbered from 1 to the counter's last, without a gap, and none twice."""
    seen = sorted(event.number for event in told)
    missing = sorted(set(range(1, last + 1)) - set(seen))
    twice = [number for number, count in collections.Counter(seen).items() if count > 1]
    beyond = [number for number in seen if number > last]
    return (
        [f"event {number} is missing" for number in missing]
        + [f"event {number} is there {seen.count(number)} times" for number in twice]
        + [f"event {number} is beyond the counter, which is at {last}" for number in beyond]
    )


def delivery(got: Sequence[int], permitted: Sequence[int]) -> list[str]:
    """Judge that a reader was told what it may see, each number once, in their order, and nothing else."""
    counts = collections.Counter(got)
    missing = sorted(set(permitted) - set(counts))
    foreign = sorted(set(counts) - set(permitted))
    twice = [number for number, count in counts.items() if count > 1]
    back = [after for before, after in itertools.pairwise(got) if after < before]
    faults = {
        "missing": missing,
        "not to be seen": foreign,
        "told more than once": twice,
        "out of order": back,
    }
    return [f"{len(found)} {what}, the first {found[0]}" for what, found in faults.items() if found]


def chains(told: Iterable[lines.Told], stored: Mapping[str, str]) -> list[str]:
    """Judge that the events of each session form one way through the table of states, up to where it is now."""
    ways: dict[str, list[lines.Told]] = {}
    for event in sorted(told, key=lambda event: event.number):
        if event.type == _BIRTH or event.after:
            ways.setdefault(event.session, []).append(event)
    faults = [fault for name, events in sorted(ways.items()) for fault in _chain(name, events)]
    for name, state in sorted(stored.items()):
        events = ways.get(name, [])
        end = next((event.after for event in reversed(events) if event.after), "pending" if events else "")
        if end != state:
            faults.append(f"{name} is {state}, and its events end with {end or 'nothing'}")
    return faults


def _chain(name: str, events: Sequence[lines.Told]) -> list[str]:
    births = [event for event in events if event.type == _BIRTH]
    faults = [] if len(births) == 1 else [f"{name} was submitted {len(births)} times"]
    at = "pending"
    for event in events:
        if not event.after:
            continue
        if event.before != at:
            faults.append(f"{name}: event {event.number} leaves {event.before}, and it was {at}")
        if (event.before, event.after) not in _WAYS:
            faults.append(f"{name}: event {event.number} goes from {event.before} to {event.after}")
        at = event.after
    return faults


def starts(started: Iterable[lines.Started]) -> list[str]:
    """Judge that no attempt of a session ran twice: whatever crashed, its program began at most once."""
    counts = collections.Counter((one.session, one.attempt) for one in started)
    return [
        f"attempt {attempt} of {session} was started {count} times"
        for (session, attempt), count in sorted(counts.items())
        if count > 1
    ]


def capacity(changes: Iterable[tuple[str, str, int]], *, limits: Mapping[str, int]) -> list[str]:
    """
    Judge that what is held on a node is never above its capacity, nor below nothing.

    Args:
        changes: (node, session, amount taken or, negative, given back), in the order of their commits.
        limits: node -> its capacity.
    """
    held: collections.Counter[str] = collections.Counter()
    faults = []
    for (node, session, amount), place in zip(changes, itertools.count(1), strict=False):
        held[node] += amount
        if not 0 <= held[node] <= limits[node]:
            faults.append(f"change {place}: {node} holds {held[node]} of {limits[node]} after {session}")
    return faults
