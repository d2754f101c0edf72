"""
Free room during a round: slots, device indices and session places per node, limits per owner and queue.

Everything that is not proven free counts as held: sessions that run, start or are being stopped, and the
drawn part of every reservation. Beside it stands what is *releasing* (being stopped, deadline not over), net
of what reservations were promised of it. Amounts are plain integers by kind; a node with a session limit has
the further kind ``rooms.PLACES``, so that one arithmetic serves all. Every change is journalled and can be
rolled back. Source: DESIGN 5.1, 5.6, 5.7.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from scheduler.core import entities, journal, limits, release, resources, rooms, snapshot

Amounts = rooms.Amounts


@dataclasses.dataclass(frozen=True, slots=True)
class Reserve:
    """Room to keep on one node: the free part is drawn at once, the rest promised of what is leaving."""

    node_id: int
    slots: resources.ResourceVector
    draw: resources.ResourceVector
    draw_indices: Mapping[str, tuple[int, ...]]
    leaving: tuple[entities.Session, ...]  #: victims and others being stopped that it counts on


class Ledger(journal.Journal):
    """Every node, owner and queue of one round."""

    def __init__(self, view: snapshot.Snapshot) -> None:
        super().__init__()
        self._policy = view.policy
        self._stops: dict[int, list[resources.ResourceVector]] = {}  #: what each session that leaves frees
        self.growths = 0  #: grows whenever something may have become free
        self.rooms: dict[int, rooms.Room] = {node.id: rooms.Room(node) for node in view.nodes}
        self.owners = {owner.id: limits.Account(owner.usage) for owner in view.owners}
        self.queues = {queue.id: limits.Account(queue.usage) for queue in view.queues}
        for session in view.sessions:
            self._hold(session, view.now)
        by_id = {session.id: session for session in view.sessions}
        for reservation in sorted(view.reservations, key=lambda r: r.id):
            self._keep(reservation, by_id, view.now)
        self._journal.clear()

    # What the snapshot says

    def _hold(self, session: entities.Session, now: int) -> None:
        place = release.holds_place(session)
        for held in session.allocations:
            room = self.rooms.get(held.node_id)
            if room is not None:
                room.hold(held.slots, held.indices, place=place)
        if release.is_releasing(session, now):
            self.add_leaving(session, release.releases_by_node(session, self._policy), place=place)

    def _keep(
        self, reservation: entities.Reservation, by_id: Mapping[int, entities.Session], now: int
    ) -> None:
        room = self.rooms.get(reservation.node_id)
        if room is None:
            return
        self._take(room, reservation.drawn, reservation.indices, place=True)
        self._add(room.drawn, room.wants(reservation.drawn))
        self._promise(room, reservation.slots.minus_clamped(reservation.drawn), reservation.victim_ids)
        holder = by_id.get(reservation.session_id)
        if holder is not None:
            victims = [by_id[i] for i in reservation.victim_ids if i in by_id]
            self._count(holder, reservation.slots, [v for v in victims if release.is_held_back(v)], sign=-1)
            self._net(holder, reservation.slots, [v for v in victims if release.is_releasing(v, now)])

    # Accounts

    def owner(self, owner_id: int) -> limits.Account:
        """Return the owner's account; one that the snapshot does not list has no limits."""
        account = self.owners.get(owner_id)
        if account is None:
            account = self.owners[owner_id] = limits.Account(entities.Usage())
        return account

    def queue(self, queue_id: int) -> limits.Account:
        """Return the queue's account; one that the snapshot does not list has no limits."""
        account = self.queues.get(queue_id)
        if account is None:
            account = self.queues[queue_id] = limits.Account(entities.Usage())
        return account

    def accounts(self, session: entities.Session) -> tuple[limits.Account, limits.Account]:
        """Return the accounts of a session's owner and queue, in this order."""
        return self.owner(session.owner_id), self.queue(session.queue_id)

    def _count(
        self,
        holder: entities.Session,
        slots: resources.ResourceVector,
        held: list[entities.Session],
        *,
        sign: int,
    ) -> None:
        """
        Take a reservation out of its holder's accounts (sign -1) or give it back (+1), net of victims held.
        """
        for account, victims in self._by_account(holder, held):
            rest = self._rest(slots, victims)
            self._add(account.left, {k: sign * a for k, a in rest.items() if k in account.left})

    def _net(
        self,
        holder: entities.Session,
        slots: resources.ResourceVector,
        leaving: list[entities.Session],
        *,
        sign: int = 1,
    ) -> None:
        """
        Take what a reservation was promised of its owner's or queue's victims out of what they give back (-1:
        undo it).
        """
        for account, victims in self._by_account(holder, leaving):
            rest = self._rest(slots, victims)
            self._add(
                account.leaving, {k: sign * (rest.get(k, 0) - a) for k, a in limits.wanted(slots).items()}
            )

    def _rest(self, slots: resources.ResourceVector, victims: list[entities.Session]) -> Amounts:
        """Return what a reservation counts beside these victims."""
        frees = [vector for victim in victims for vector in self._frees(victim)]
        rest, sessions = limits.counted(slots, frees, sessions=_with_places(victims))
        return limits.wanted(rest, sessions=sessions)

    def _frees(self, victim: entities.Session) -> list[resources.ResourceVector]:
        if victim.id in self._stops:
            return self._stops[victim.id]
        return [slots for _, slots in release.releases_by_node(victim, self._policy)]

    def _by_account(
        self, holder: entities.Session, victims: list[entities.Session]
    ) -> tuple[tuple[limits.Account, list[entities.Session]], ...]:
        owner, queue = self.accounts(holder)
        return (
            (owner, [v for v in victims if v.owner_id == holder.owner_id]),
            (queue, [v for v in victims if v.queue_id == holder.queue_id]),
        )

    # Changes during the round

    def add_leaving(
        self,
        session: entities.Session,
        frees: Iterable[tuple[int, resources.ResourceVector]],
        *,
        place: bool,
    ) -> None:
        """Count what the stop of ``session`` will free as releasing, on its nodes and in its accounts."""
        total: Amounts = {limits.SESSIONS: 1} if place else {}
        frees = list(frees)
        self._set(self._stops, session.id, [slots for _, slots in frees])
        for node_id, slots in frees:
            for kind, amount in slots:
                total[kind] = total.get(kind, 0) + amount
            room = self.rooms.get(node_id)
            if room is not None:
                amounts = slots.as_dict()
                if place:
                    amounts[rooms.PLACES] = 1
                self._add(room.releasing, amounts)
                self._set(room.leaving, session.id, amounts)
                self._touch(room)
        for account in self.accounts(session):
            self._add(account.leaving, total)

    def charge(self, session: entities.Session, amounts: Mapping[str, int]) -> None:
        """Take what a start needs out of the accounts of its owner and queue; negative amounts give back."""
        for account in self.accounts(session):
            self._add(account.left, {kind: -a for kind, a in amounts.items() if kind in account.left})

    def take(
        self,
        node_id: int,
        slots: resources.ResourceVector,
        indices: Mapping[str, tuple[int, ...]],
        *,
        place: bool = True,
    ) -> None:
        """Take free slots, indices and a session place on one node."""
        self._take(self.rooms[node_id], slots, indices, place=place)

    def give_back(
        self, node_id: int, slots: resources.ResourceVector, indices: Mapping[str, tuple[int, ...]]
    ) -> None:
        """Return slots, indices and a session place that a reservation had drawn to one node."""
        room = self.rooms[node_id]
        self.growths += 1
        wanted = room.wants(slots)
        self._add(room.free, wanted)
        self._add(room.drawn, {kind: -amount for kind, amount in wanted.items()})
        for kind, numbers in indices.items():
            self._set(room.indices, kind, tuple(sorted({*room.indices.get(kind, ()), *numbers})))
        self._touch(room)

    def end_reservation(
        self, holder: entities.Session, reservation: entities.Reservation, held: list[entities.Session]
    ) -> None:
        """Return what a reservation has drawn and what it counts, net of victims held: its holder starts."""
        self.give_back(reservation.node_id, reservation.drawn, reservation.indices)
        self.uncount(holder, reservation, held)

    def uncount(
        self, holder: entities.Session, reservation: entities.Reservation, held: list[entities.Session]
    ) -> None:
        """Return what a reservation counts in its holder's accounts; its room stays kept for this round."""
        self._count(holder, reservation.slots, held, sign=1)

    def drop(
        self,
        holder: entities.Session,
        reservation: entities.Reservation,
        victims: list[entities.Session],
        now: int,
    ) -> None:
        """
        Undo all that a reservation of the snapshot keeps, because another session takes it over.

        Args:
            holder: its session, which waits on without it.
            reservation: on a node of the group.
            victims: those of its victims that the snapshot knows.
            now: the snapshot's time.
        """
        self.give_back(reservation.node_id, reservation.drawn, reservation.indices)
        room, rest = self.rooms[reservation.node_id], reservation.slots.minus_clamped(reservation.drawn)
        self._promise(room, rest, reservation.victim_ids, sign=-1)
        self._touch(room)
        self._count(holder, reservation.slots, [v for v in victims if release.is_held_back(v)], sign=1)
        self._net(holder, reservation.slots, [v for v in victims if release.is_releasing(v, now)], sign=-1)

    def stay(self, session: entities.Session) -> None:
        """Count a stop that is taken back no more: what it was to free is neither free nor releasing."""
        total: Amounts = {limits.SESSIONS: 1} if release.holds_place(session) else {}
        for room in self.rooms.values():
            amounts = room.leaving.get(session.id)
            if not amounts:
                continue
            for kind in amounts.keys() - {rooms.PLACES}:
                total[kind] = total.get(kind, 0) + amounts[kind]
            self._add(room.releasing, {kind: -amount for kind, amount in amounts.items()})
            self._set(room.leaving, session.id, {})
            self._touch(room)
        for account in self.accounts(session):
            self._add(account.leaving, {kind: -amount for kind, amount in total.items()})

    def reserve(self, holder: entities.Session, plan: Reserve) -> None:
        """Keep room for ``holder``: draw the free part, promise the rest, count it in its accounts."""
        room = self.rooms[plan.node_id]
        self._take(room, plan.draw, plan.draw_indices, place=True)
        self._add(room.drawn, room.wants(plan.draw))
        rest = plan.slots.minus_clamped(plan.draw)
        self._add(room.promised, rest.as_dict())
        self._touch(room)
        self._count(holder, plan.slots, list(plan.leaving), sign=-1)
        self._net(holder, plan.slots, list(plan.leaving))

    def _take(
        self,
        room: rooms.Room,
        slots: resources.ResourceVector,
        indices: Mapping[str, tuple[int, ...]],
        *,
        place: bool,
    ) -> None:
        wanted = room.wants(slots) if place else slots.as_dict()
        self._add(room.free, {kind: -amount for kind, amount in wanted.items()})
        for kind, numbers in indices.items():
            left = tuple(i for i in room.indices.get(kind, ()) if i not in numbers)
            self._set(room.indices, kind, left)
        self._touch(room)

    def _promise(
        self, room: rooms.Room, rest: resources.ResourceVector, victim_ids: Iterable[int], *, sign: int = 1
    ) -> None:
        """Promise what can still come: at most what the reservation's own victims free here (-1: undo it)."""
        coming: Amounts = {}
        for victim_id in victim_ids:
            for kind, amount in room.leaving.get(victim_id, {}).items():
                coming[kind] = coming.get(kind, 0) + amount
        self._add(room.promised, {k: sign * min(a, coming.get(k, 0)) for k, a in rest})


def _with_places(victims: list[entities.Session]) -> int:
    """Count the victims that hold a session place: those that do not wait suspended."""
    return sum(release.holds_place(victim) for victim in victims)
