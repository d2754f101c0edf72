"""
What a round gives on one node, added up independently of the ledger that decides: for the invariants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler.core import decisions, entities, resources, snapshot


def total(vectors: Iterable[resources.ResourceVector]) -> resources.ResourceVector:
    """Return the sum of vectors."""
    found = resources.EMPTY
    for vector in vectors:
        found += vector
    return found


#: Slots, and device indices by kind.
Part = tuple[resources.ResourceVector, Mapping[str, tuple[int, ...]]]


def grants_on(
    by_id: dict[int, entities.Session], found: Sequence[decisions.Decision], node_id: int
) -> Iterator[Part]:
    """Return what starts take on a node beyond what their sessions hold there already."""
    starts = (one for one in found if isinstance(one, decisions.Dispatch))
    for start in starts:
        own = {a.node_id: a for a in by_id[start.session_id].allocations}.get(node_id)
        yield from (beyond(grant, own) for grant in start.grants if grant.node_id == node_id)


def beyond(grant: decisions.NodeGrant, own: entities.Allocation | None) -> Part:
    """Return what a grant takes beyond what its session holds there."""
    if own is None:
        return grant.slots, grant.indices
    rest = {k: tuple(i for i in v if i not in own.indices.get(k, ())) for k, v in grant.indices.items()}
    return grant.slots.minus_clamped(own.slots), rest


def draws_on(found: Sequence[decisions.Decision], node_id: int) -> Iterator[Part]:
    """Return what preemptions and waits draw on a node at once."""
    for one in found:
        if isinstance(one, decisions.Preempt) and not one.is_shadow and one.node_id == node_id:
            yield one.draw, one.draw_indices
        if isinstance(one, decisions.Pend) and one.wait is not None and one.wait.node_id == node_id:
            yield one.wait.draw, one.wait.draw_indices


def ended_on(view: snapshot.Snapshot, found: Sequence[decisions.Decision], node_id: int) -> set[int]:
    """Return the reservations on a node that the round ends: their holder starts, or they are taken over."""
    used = {d.reservation_id for d in found if isinstance(d, decisions.Dispatch)}
    used |= {d.takes_over for d in found if isinstance(d, decisions.Preempt) and not d.is_shadow}
    return {r.id for r in view.reservations if r.node_id == node_id and r.id in used}
