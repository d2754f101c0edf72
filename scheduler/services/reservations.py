"""
Reservations: room kept on one node for one pending session (DESIGN 5.6).

A reservation draws the free part at once, and each victim's slots in the transaction that proves its stop. It is
consumed when its session is SCHEDULED on it, restored when that start fails, and ends with one outcome.
Every function expects the node's slots to be locked.
"""

from __future__ import annotations

import datetime

from scheduler import errors, models
from scheduler.core import decisions
from scheduler.selectors import stops
from scheduler.services import handovers, ledger
from scheduler.services import work as unit

Kind = models.Outcome.Kind


def create(
    decision: models.Decision,
    room: decisions.Preempt | decisions.Wait,
    *,
    deadline: datetime.datetime,
) -> models.Reservation:
    """Reserve the room of a core decision on its node: the free part now, the rest as its stops are proven."""
    victim_ids = room.victim_jobids if isinstance(room, decisions.Preempt) else ()
    reservation = models.Reservation.objects.create(
        decision=decision,
        session_id=decision.session_id,
        node_id=decision.node_id,
        slots=room.slots.as_dict(),
        drawn={},
        deadline=deadline,
    )
    reservation.waits_for.add(*victim_ids, *room.releasing_ids)
    indices = {kind: list(numbers) for kind, numbers in room.draw_indices.items()}
    _draw(reservation, room.draw.as_dict(), indices)
    return reservation


def _draw(reservation: models.Reservation, amounts: dict[str, int], indices: dict[str, list[int]]) -> None:
    ledger.draw_slots(reservation.node_id, amounts)
    for kind, numbers in sorted(indices.items()):
        devices = models.NodeDevice.objects.filter(node_id=reservation.node_id, kind=kind, index__in=numbers)
        free = devices.filter(session=None, reservation=None)
        if free.update(reservation=reservation) != len(numbers):
            raise errors.StaleState(f"a {kind} promised on node {reservation.node_id} is taken")
    for kind, amount in amounts.items():
        reservation.drawn[kind] = reservation.drawn.get(kind, 0) + amount
    if amounts:
        reservation.save(update_fields=["drawn"])


def draw_freed(node_id: int, session: models.Session) -> None:
    """Give what a stopped session freed on a node to the reservations that were promised it, oldest first."""
    waiting = models.Reservation.objects.filter(
        node_id=node_id, waits_for=session, is_consumed=False
    ).order_by("pk")
    for reservation in waiting:
        reservation.waits_for.remove(session)
        missing = {k: a - reservation.drawn.get(k, 0) for k, a in reservation.slots.items()}
        _draw_free(reservation, missing)


def _draw_free(reservation: models.Reservation, wanted: dict[str, int]) -> None:
    free = _free(reservation.node_id)
    amounts = {kind: min(amount, free.get(kind, 0)) for kind, amount in wanted.items()}
    amounts = {kind: amount for kind, amount in amounts.items() if amount > 0}
    _draw(reservation, amounts, _free_indices(reservation.node_id, amounts))


def _free(node_id: int) -> dict[str, int]:
    rows = models.NodeSlot.objects.filter(node_id=node_id).values_list(
        "kind", "capacity", "allocated", "reserved"
    )
    return {kind: capacity - allocated - reserved for kind, capacity, allocated, reserved in rows}


def _free_indices(node_id: int, amounts: dict[str, int]) -> dict[str, list[int]]:
    free = models.NodeDevice.objects.filter(node_id=node_id, session=None, reservation=None).order_by("index")
    indices: dict[str, list[int]] = {}
    for kind, index in free.values_list("kind", "index"):
        if len(indices.setdefault(kind, [])) < amounts.get(kind, 0):
            indices[kind].append(index)
    return {kind: numbers for kind, numbers in indices.items() if numbers}


def consume(reservation: models.Reservation) -> None:
    """Hand the drawn slots over: they are given back here, and charged to the session in the same transaction."""
    ledger.return_slots(reservation.node_id, reservation.drawn)
    reservation.devices.update(reservation=None)
    reservation.is_consumed = True
    reservation.save(update_fields=["is_consumed"])


def restore(session: models.Session) -> None:
    """
    Reserve again what a failed start gives back, with the time that is left; call after the release.

    What somebody else was promised of it meanwhile is theirs.
    """
    reservation = models.Reservation.objects.filter(session=session, is_consumed=True).first()
    if reservation is None:
        return
    amounts, reservation.drawn, reservation.is_consumed = reservation.drawn, {}, False
    reservation.save(update_fields=["is_consumed"])
    _draw_free(reservation, amounts)


def end(work: unit.Work, reservation: models.Reservation, kind: Kind, cause: str = "") -> None:
    """
    End a reservation, free what it still has drawn, and write the decision's outcome, once.

    Whether it could be taken back is known only with the last victim's fate; until then the outcome stays open.
    """
    if not reservation.is_consumed:
        ledger.return_slots(reservation.node_id, reservation.drawn)
    reservation.devices.update(reservation=None)
    decision = reservation.decision
    reservation.delete()
    if kind == Kind.WITHDRAWN and stops.answered_for([decision.pk]).filter(fate=None).exists():
        models.GivenUp.objects.get_or_create(decision=decision, defaults={"cause": cause})
    else:
        write_outcome(work, decision, kind, cause)
    work.ask_round(decision.group_id)


def write_outcome(work: unit.Work, decision: models.Decision, kind: Kind, cause: str = "") -> None:
    """
    Write how a decision turned out, unless it is written already.

    One that is withdrawn, and whose stop a next holder goes on with, is transferred.
    """
    if kind == Kind.WITHDRAWN and models.Handover.objects.filter(victim__decision=decision).exists():
        kind, cause = Kind.TRANSFERRED, handovers.CAUSE
    _, is_new = models.Outcome.objects.get_or_create(
        decision=decision, defaults={"kind": kind, "cause": cause, "at": work.now}
    )
    if is_new and kind == Kind.WITHDRAWN:
        edges = models.PreemptionEdge.objects.filter(decision=decision)
        edges.exclude(
            loser__victim_rows__decision=decision
        ).delete()  # of a takeover: nothing was stopped for it
    if is_new:
        work.tell(
            "decision.outcome", session=decision.session, decision=decision, outcome=str(kind), cause=cause
        )


def finish_used(work: unit.Work, session: models.Session) -> None:
    """Close the reservation on which a session has just started: used, or partly when some victims did not stop."""
    reservation = models.Reservation.objects.filter(session=session, is_consumed=True).first()
    if reservation is None:
        return
    victims = models.Victim.objects.filter(decision=reservation.decision)
    stopped = victims.filter(fate__fate__in=("stopped", "finished", "lost"), handover=None).count()
    kind = Kind.USED if stopped == victims.count() else Kind.PARTLY if stopped else Kind.WITHDRAWN
    end(work, reservation, kind, "" if kind == Kind.USED else "no longer needed")
