"""
Taking over a reservation: room that is being made already, for a session that comes later in the line.

Whoever could legally stop the holder, if it ran, takes what is reserved for it rather than stop anybody: the whole
reservation counts as free for the taker, the holder waits anew, and stops that are not needed any more are taken
back. Where that is not enough, further victims join, if that stops fewer than any other way. The ledger is changed
to look and rolled back; ``carry_out`` does it for good. Source: DESIGN 5.2 (edges), 5.6 (takeover).
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

from scheduler.core import context, decisions, entities, ordering, placement, release, shortages
from scheduler.core.preemption import eligibility

_VERDICT = decisions.Verdict
#: What protects a session that runs, and says nothing of one that waits for its reserved room.
_ASIDE = frozenset({_VERDICT.NOT_RUNNING, _VERDICT.MIN_RUNTIME, _VERDICT.STOP_FAILED, _VERDICT.LIMIT})


@dataclasses.dataclass(frozen=True, slots=True)
class Takeover:
    """A reservation that one session may take from its holder."""

    reservation: entities.Reservation
    holder: entities.Session
    axis: entities.Axis
    no_longer_needed: tuple[entities.Session, ...] = ()  #: stops that are taken back


def possible(ctx: context.Context, session: entities.Session, axis: entities.Axis) -> tuple[Takeover, ...]:
    """
    Return what the session may take over on an axis, the lowest holder first, then by placement and id.

    Cost: O(reservations).
    """
    if not ctx.reservation_by_session:
        return ()
    question = eligibility.ask(ctx, session, axis)
    found = []
    for reservation in ctx.reservation_by_session.values():
        holder, node = ctx.session_by_id.get(reservation.session_id), ctx.node_by_id.get(reservation.node_id)
        if holder is None or node is None or shortages.note(ctx, session, node):
            continue
        if _is_behind(ctx, session, holder) and _is_legal(question, holder):
            found.append(Takeover(reservation, holder, axis))
    ranks = {node.id: rank for rank, node in enumerate(placement.in_order(ctx, ctx.nodes))} if found else {}
    key = eligibility.value
    return tuple(
        sorted(
            found,
            key=lambda one: (key(axis, one.holder), ranks[one.reservation.node_id], one.reservation.id),
        )
    )


def _is_behind(ctx: context.Context, session: entities.Session, holder: entities.Session) -> bool:
    places = ctx.all_round(
        "places", lambda: {one.id: place for place, one in enumerate(ordering.waiting(ctx.view))}
    )
    return places.get(holder.id, -1) > places.get(session.id, len(places))


def _is_legal(question: eligibility.Question, holder: entities.Session) -> bool:
    tests = eligibility.TESTS[question.axis]
    return not any(test(question, holder) for verdict, test in tests if verdict not in _ASIDE)


@contextlib.contextmanager
def released(ctx: context.Context, taken: Takeover) -> Iterator[None]:
    """Look at the nodes as if the reservation did not stand."""
    mark = ctx.ledger.savepoint()
    _release(ctx, taken)
    ctx.set_aside.add(taken.reservation.id)
    try:
        yield
    finally:
        ctx.set_aside.discard(taken.reservation.id)
        ctx.ledger.rollback(mark)


def _release(ctx: context.Context, taken: Takeover) -> None:
    sessions = (ctx.session_by_id.get(i) for i in taken.reservation.victim_ids)
    ctx.ledger.drop(taken.holder, taken.reservation, [s for s in sessions if s is not None], ctx.now)
    for session in taken.no_longer_needed:
        ctx.ledger.stay(session)


def superfluous(ctx: context.Context, taken: Takeover, suffices: Callable[[], bool]) -> Takeover:
    """
    Return the takeover with the stops that the taker can do without, the highest first.

    Args:
        taken: of a reservation that is released now; the ledger is left with what is needed.
        suffices: says whether the ledger as it stands leaves the taker enough.
    """
    shared = {
        session_id
        for other in ctx.reservation_by_session.values()
        if other is not taken.reservation
        for session_id in other.victim_ids
    } | ctx.counted_on
    stops = [
        session
        for session_id in taken.reservation.victim_ids
        if session_id not in shared
        and (session := ctx.session_by_id.get(session_id)) is not None
        and release.is_reversible(session, ctx.now)
    ]
    stays: list[entities.Session] = []
    for session in sorted(stops, key=lambda s: (-eligibility.value(taken.axis, s), -s.id)):
        mark = ctx.ledger.savepoint()
        ctx.ledger.stay(session)
        if suffices():
            stays.append(session)
        else:
            ctx.ledger.rollback(mark)
    return dataclasses.replace(taken, no_longer_needed=tuple(stays))


def carry_out(ctx: context.Context, session: entities.Session, taken: Takeover) -> None:
    """Give the reservation up for its taker: the holder waits anew, and the edge is set."""
    _release(ctx, taken)
    del ctx.reservation_by_session[taken.holder.id]
    ctx.add_edge(session.id, taken.holder.id)
