"""
Sort keys: which of two equally good sets of victims is taken.

The last criterion is the id, so that every comparison ends. Source: DESIGN 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.core import entities
from scheduler.core.preemption import policy


def start_key(order: entities.PreemptionOrder, start: int) -> int:
    """Return the key by which start times are compared: newest first for ``newest``, else oldest first."""
    return -start if order is entities.PreemptionOrder.NEWEST else start


def starts_key(order: entities.PreemptionOrder, victims: Iterable[policy.Candidate]) -> tuple[int, ...]:
    """Return the sorted start keys of a set; two sets are compared item by item."""
    return tuple(sorted(start_key(order, victim.start) for victim in victims))


def ids_key(victims: Iterable[policy.Candidate]) -> tuple[int, ...]:
    """Return the sorted ids of a set."""
    return tuple(sorted(victim.session_id for victim in victims))


def stop_order(victims: Iterable[policy.Candidate]) -> tuple[int, ...]:
    """Return the ids of a set in the order in which it is stopped: lowest value first, then by id."""
    return tuple(v.session_id for v in sorted(victims, key=lambda v: (v.value, v.session_id)))
