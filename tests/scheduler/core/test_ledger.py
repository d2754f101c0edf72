"""Free room during a round: what is held, drawn, releasing and promised."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings

from scheduler.core import entities, ledger, rooms, states
from tests import factories, strategies
from tests.factories import slots

LATER, EARLIER = factories.NOW + 1, factories.NOW - 1
S = states.SessionState


def _stopping(session_id, request, *, deadline=LATER, **more):
    fields = {"state": S.PREEMPTED, "in_decision": True, "stop_deadline": deadline}
    return factories.a_running(session_id, request, **fields | more)


def _kept(session_id, want, drawn, victims, **more):
    return entities.Reservation(1, session_id, 1, want, drawn, victims, LATER, **more)


def _room(sessions, **more):
    return ledger.Ledger(factories.a_snapshot(sessions, **more)).rooms[1]


def test_what_sessions_hold_is_not_free():
    room = _room([factories.a_running(1, slots(cpu=3))])

    assert room.free["cpu"] == 1
    assert not room.fits({"cpu": 2})
    assert room.lacks({"cpu": 2}) == {"cpu": 1}


def test_a_stop_that_is_not_proven_frees_nothing_yet_and_counts_as_releasing():
    room = _room([_stopping(1, slots(cpu=3))])

    assert (room.free["cpu"], room.net_releasing("cpu")) == (1, 3)
    assert room.short({"cpu": 4}) == {}


def test_after_its_deadline_a_stop_is_stuck_and_counts_as_nothing():
    room = _room([_stopping(1, slots(cpu=3), deadline=EARLIER)])

    assert room.short({"cpu": 4}) == {"cpu": 3}


def test_a_stop_that_is_being_withdrawn_counts_as_nothing():
    room = _room([_stopping(1, slots(cpu=3), is_withdrawing=True)])

    assert room.short({"cpu": 4}) == {"cpu": 3}


def test_p10_a_suspend_releases_only_the_kinds_that_it_frees():
    rules = dataclasses.replace(factories.ON, suspend_releases=frozenset({"cpu"}))
    node = factories.a_node(capacity=slots(cpu=4, mem=4))
    stopping = _stopping(1, slots(cpu=4, mem=4), stop_mode=entities.PreemptionMode.SUSPEND)

    room = _room([stopping], nodes=[node], policy=rules)

    assert room.short({"cpu": 4, "mem": 1}) == {"mem": 1}


def test_a_suspended_session_holds_what_was_not_released_and_no_session_place():
    node = factories.a_node(capacity=slots(cpu=4, mem=4), max_sessions=1)
    room = _room([factories.a_suspended(1, slots(cpu=4, mem=4), holds=slots(mem=4))], nodes=[node])

    assert (room.free["cpu"], room.free["mem"], room.free[rooms.PLACES]) == (4, 0, 1)


def test_what_a_reservation_has_drawn_is_not_free_and_the_rest_is_promised_of_its_victims():
    sessions = [_stopping(1, slots(cpu=3)), factories.a_session(2)]

    room = _room(sessions, reservations=(_kept(2, slots(cpu=3), slots(cpu=1), (1,)),))

    assert (room.free["cpu"], room.net_releasing("cpu")) == (0, 1)


def test_a_reservation_whose_victim_is_stuck_takes_nothing_of_what_others_release():
    sessions = [
        _stopping(1, slots(cpu=2), deadline=EARLIER),
        _stopping(2, slots(cpu=2)),
        factories.a_session(3),
    ]

    room = _room(sessions, reservations=(_kept(3, slots(cpu=2), slots(), (1,)),))

    assert room.net_releasing("cpu") == 2


def test_a_reservation_takes_a_session_place():
    node = factories.a_node(max_sessions=2)
    sessions = [_stopping(1, slots(cpu=1)), factories.a_session(2)]

    room = _room(sessions, nodes=[node], reservations=(_kept(2, slots(cpu=1), slots(cpu=1), ()),))

    assert room.free[rooms.PLACES] == 0
    assert room.short(room.wants(slots(cpu=1))) == {}


def test_the_lowest_free_device_indices_are_given():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=4))
    running = factories.a_running(1, slots(cpu=1, cuda_device=1), indices={"cuda.device": (1,)})

    room = _room([running], nodes=[node])

    assert room.take_indices(slots(cpu=1, cuda_device=2)) == {"cuda.device": (0, 2)}


def test_a_reservation_nets_what_its_own_owner_is_about_to_give_back():
    owner = entities.Owner(1, entities.Usage(used=slots(cpu=3), sessions=1, max_slots={"cpu": 4}))
    view = factories.a_snapshot(
        [_stopping(1, slots(cpu=3)), factories.a_session(2)],
        owners=(owner,),
        reservations=(_kept(2, slots(cpu=2), slots(cpu=1), (1,)),),
    )

    account = ledger.Ledger(view).owner(1)

    assert (account.left["cpu"], account.leaving["cpu"]) == (1, 1)


def test_a_reservation_counts_in_its_holders_accounts_beyond_what_its_own_victims_still_hold():
    owner = entities.Owner(1, entities.Usage(used=slots(cpu=1), sessions=1, max_slots={"cpu": 9}))
    view = factories.a_snapshot(
        [_stopping(1, slots(cpu=1)), factories.a_session(2)],
        owners=(owner,),
        reservations=(_kept(2, slots(cpu=3), slots(cpu=2), (1,)),),
    )

    assert ledger.Ledger(view).owner(1).left["cpu"] == 6


def test_rooms_and_accounts_that_the_snapshot_does_not_list_are_without_limits():
    view = factories.a_snapshot([factories.a_running(1, on=(7,))])
    book = ledger.Ledger(view)

    assert book.owner(99).left == {}
    assert book.queue(99).short({"cpu": 9}) == {}
    assert book.rooms[1].free["cpu"] == 4


@settings(max_examples=50, deadline=None)
@given(strategies.snapshots())
def test_p01_a_rollback_leads_back_to_the_very_same_room(view):
    book = ledger.Ledger(view)
    before = _content(book)
    mark = book.savepoint()

    for session in view.sessions:
        book.add_leaving(session, [(a.node_id, a.slots) for a in session.allocations], place=True)
        book.charge(session, {"cpu": 1, "sessions": 1})
        book.take(1, slots(cpu=1), {"cuda.device": (0,)})
        book.give_back(1, slots(mem=1), {"cuda.device": (0,)})
        book.reserve(session, ledger.Reserve(1, slots(cpu=2), slots(cpu=1), {}, (session,)))
    versions = [room.version for room in book.rooms.values()]
    book.rollback(mark)

    assert _content(book) == before
    assert not view.sessions or versions != [room.version for room in book.rooms.values()]


def _content(book):
    rooms = {
        i: (_amounts(r.free), _amounts(r.releasing), _amounts(r.promised), dict(r.indices), dict(r.leaving))
        for i, r in book.rooms.items()
    }
    accounts = [(_amounts(a.left), _amounts(a.leaving)) for a in book.owners.values()]
    return rooms, accounts, [(_amounts(a.left), _amounts(a.leaving)) for a in book.queues.values()]


def _amounts(amounts):
    return {kind: amount for kind, amount in amounts.items() if amount}


def _content(book):
    rooms_now = [
        (
            {k: a for k, a in room.free.items() if a},
            room.indices,
            _positive(room.releasing),
            _positive(room.promised),
        )
        for room in book.rooms.values()
    ]
    accounts = [(a.left, _positive(a.leaving)) for a in (*book.owners.values(), *book.queues.values())]
    return rooms_now, accounts


def _positive(amounts):
    return {kind: amount for kind, amount in amounts.items() if amount}


@settings(max_examples=200, deadline=None)
@given(strategies.snapshots())
def test_a_reservation_that_is_dropped_leaves_nothing_behind(view):
    by_id = {session.id: session for session in view.sessions}
    book = ledger.Ledger(view)
    for kept in view.reservations:
        book.drop(by_id[kept.session_id], kept, [by_id[i] for i in kept.victim_ids], view.now)

    assert _content(book) == _content(ledger.Ledger(dataclasses.replace(view, reservations=())))


@settings(max_examples=200, deadline=None)
@given(strategies.snapshots())
def test_a_stop_that_is_taken_back_counts_as_one_that_is_withdrawn(view):
    view = dataclasses.replace(view, reservations=())
    stopping = [session for session in view.sessions if session.state is S.PREEMPTED]
    book = ledger.Ledger(view)
    for session in stopping:
        if any(session.id in room.leaving for room in book.rooms.values()):
            book.stay(session)
    back = {s.id: dataclasses.replace(s, is_withdrawing=True) for s in stopping}
    withdrawn = dataclasses.replace(view, sessions=tuple(back.get(s.id, s) for s in view.sessions))

    assert _content(book) == _content(ledger.Ledger(withdrawn))
