"""
Simple rules for a sufficient set on one node: other schedulers', and largest first.

Each answer is irreducible. The exact search starts from the best of them, so that it is never worse, whatever
its budget. Source: PERFORMANCE notes on kube-scheduler (reprieve highest first), Kueue (take in order, fill
back).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler.core.preemption import policy

Victims = tuple[policy.Candidate, ...]


def suffices(need: Sequence[int], victims: Iterable[policy.Candidate]) -> bool:
    """Say whether the victims together give every amount needed."""
    rest = list(need)
    for victim in victims:
        rest = [r - g for r, g in zip(rest, victim.gives, strict=True)]
    return max(rest) <= 0


def give_back(need: Sequence[int], victims: Sequence[policy.Candidate]) -> Victims:
    """
    Leave out what is not needed, trying the last first; the result has no member that could be left out.
    """
    surplus = [-n for n in need]
    for victim in victims:
        surplus = [s + g for s, g in zip(surplus, victim.gives, strict=True)]
    kept = []
    for victim in reversed(victims):
        rest = [s - g for s, g in zip(surplus, victim.gives, strict=True)]
        if min(rest) >= 0:
            surplus = rest
        else:
            kept.append(victim)
    return tuple(reversed(kept))


def take_until(need: Sequence[int], candidates: Iterable[policy.Candidate]) -> Victims | None:
    """
    Take in the given order, skipping what adds nothing, until it suffices; None when all are not enough.
    """
    rest, taken = list(need), []
    for candidate in candidates:
        if any(r > 0 and g > 0 for r, g in zip(rest, candidate.gives, strict=True)):
            taken.append(candidate)
            rest = [r - g for r, g in zip(rest, candidate.gives, strict=True)]
            if max(rest) <= 0:
                return tuple(taken)
    return None


def in_order_then_back(target: policy.Target) -> Victims | None:
    """Take lowest value first, newest first within, then fill back in reverse (Kueue's rule)."""
    order = sorted(target.candidates, key=lambda c: (c.value, -c.start, c.session_id))
    taken = take_until(target.need, order)
    return None if taken is None else give_back(target.need, taken)


def all_then_reprieve(target: policy.Target) -> Victims | None:
    """Take everybody, then reprieve the highest value first (kube-scheduler's rule)."""
    if not suffices(target.need, target.candidates):
        return None
    order = sorted(target.candidates, key=lambda c: (c.value, -c.start, c.session_id))
    return give_back(target.need, order)


def largest_first(target: policy.Target) -> Victims | None:
    """
    Take what covers most of the rest, relative to the need; then give back the dearest that is not needed.
    """
    need, rest = target.need, list(target.need)
    left, taken = list(target.candidates), []
    while max(rest) > 0:
        best = max(left, key=lambda c: (_coverage(c, rest, need), -c.value, -c.session_id), default=None)
        if best is None or not _coverage(best, rest, need):
            return None
        left.remove(best)
        taken.append(best)
        rest = [r - g for r, g in zip(rest, best.gives, strict=True)]
    return give_back(need, sorted(taken, key=lambda c: (c.value, c.session_id)))


def _coverage(candidate: policy.Candidate, rest: Sequence[int], need: Sequence[int]) -> int:
    """Return what it covers of the rest, in millionths of the need, summed over the amounts."""
    return sum(
        min(g, r) * 1_000_000 // n for g, r, n in zip(candidate.gives, rest, need, strict=True) if r > 0
    )


RULES = (largest_first, in_order_then_back, all_then_reprieve)
