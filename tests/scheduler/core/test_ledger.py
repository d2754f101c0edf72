"""Free room during a round: what is held, drawn, releasing and promised."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core import entities, ledger, limits, rooms, states
from tests import crowds, factories, strategies
from tests.factories import slots
from tests.scheduler.core import plain_cluster

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


@settings(max_examples=100, deadline=None)
@given(st.one_of(strategies.snapshots(), st.integers(0, 1 << 40).map(crowds.crowd)))
def test_what_is_free_releasing_and_left_of_limits_is_what_the_sessions_hold(view):
    view = dataclasses.replace(view, claims=())  # the round lays those on the ledger itself
    book, plain = ledger.Ledger(view), plain_cluster.Cluster(view)

    for node in view.nodes:
        room = book.rooms[node.id]
        for kind, word in [*((kind, kind) for kind in strategies.KINDS), (rooms.PLACES, plain_cluster.PLACE)]:
            if kind != rooms.PLACES or node.max_sessions is not None:
                found = room.free.get(kind, 0), room.net_releasing(kind)
                assert found == (plain.free(node, word), plain.releasing(node, word))
    for one in view.owners:
        own = [s for s in view.sessions if s.owner_id == one.id]
        assert _left(book.owner(one.id)) == _named(plain.left(one.usage, own))
    for one in view.queues:
        own = [s for s in view.sessions if s.queue_id == one.id]
        assert _left(book.queue(one.id)) == _named(plain.left(one.usage, own))


def _left(account):
    return {kind: amount + max(0, account.leaving.get(kind, 0)) for kind, amount in account.left.items()}


def _named(left):
    return {limits.SESSIONS if kind == plain_cluster.PLACE else kind: amount for kind, amount in left.items()}


LIMITED = entities.Usage(used=slots(cpu=3), sessions=1, max_slots={"cpu": 9}, max_sessions=5)


def _book(*sessions, **more):
    """Return the ledger of one node with session places, an owner and a queue with limits."""
    fields = {
        "nodes": [factories.a_node(capacity=slots(cpu=8, mem=8), max_sessions=4)],
        "owners": (entities.Owner(1, LIMITED),),
        "queues": (factories.a_queue(usage=LIMITED),),
    }
    return ledger.Ledger(factories.a_snapshot(sessions, **fields | more))


def _lefts(book):
    return [dict(account.left) for account in (book.owner(1), book.queue(1))]


def test_a_start_takes_of_both_accounts_what_they_limit_and_gives_it_back():
    book, session = _book(), factories.a_session(1)

    book.charge(session, {"cpu": 2, "mem": 7, "sessions": 1})
    assert _lefts(book) == [{"cpu": 4, "sessions": 3}] * 2
    book.charge(session, {"cpu": -2, "sessions": -1})
    assert _lefts(book) == [{"cpu": 6, "sessions": 4}] * 2


def test_taking_takes_a_place_and_giving_back_returns_it_and_grows_once():
    book = _book()

    book.take(1, slots(cpu=3), {})
    assert (book.rooms[1].free["cpu"], book.rooms[1].free[rooms.PLACES], book.growths) == (5, 3, 0)
    book.take(1, slots(cpu=1), {}, place=False)
    assert book.rooms[1].free[rooms.PLACES] == 3
    book.give_back(1, slots(cpu=4), {})
    assert (book.rooms[1].free["cpu"], book.rooms[1].free[rooms.PLACES], book.growths) == (8, 4, 1)


def test_a_reservation_of_the_round_draws_promises_and_counts_net_of_what_its_victims_free():
    victim, holder = factories.a_running(1, slots(cpu=3)), factories.a_session(2)
    book = _book(victim, holder)
    book.add_leaving(victim, [(1, slots(cpu=1))], place=True)

    book.reserve(holder, ledger.Reserve(1, slots(cpu=7, mem=1), slots(cpu=5), {}, (victim,)))

    room = book.rooms[1]
    assert (room.free["cpu"], room.free[rooms.PLACES]) == (0, 2)
    assert (room.releasing, room.promised) == ({"cpu": 1, rooms.PLACES: 1}, {"cpu": 2, "mem": 1})
    assert _lefts(book) == [{"cpu": 0, "sessions": 4}] * 2
    assert [account.leaving["cpu"] for account in (book.owner(1), book.queue(1))] == [0, 0]


def test_a_reservation_nets_only_victims_of_the_same_owner_or_queue():
    victim = factories.a_running(1, slots(cpu=3), owner_id=7)
    other = factories.a_running(3, slots(cpu=3), queue_id=7)
    book = _book(victim, other, factories.a_session(2))

    book.reserve(factories.a_session(2), ledger.Reserve(1, slots(cpu=5), slots(), {}, (victim, other)))

    assert _lefts(book) == [{"cpu": 4, "sessions": 4}] * 2
    assert book.owner(7).left == {}


def test_a_suspended_victim_has_no_session_to_net():
    victim = factories.a_suspended(1, slots(cpu=3), holds=slots(cpu=3))
    book = _book(victim, factories.a_session(2))

    book.reserve(factories.a_session(2), ledger.Reserve(1, slots(cpu=3), slots(), {}, (victim,)))

    assert _lefts(book) == [{"cpu": 6, "sessions": 3}] * 2


def test_what_leaves_is_counted_on_all_its_nodes_and_once_as_a_session():
    nodes = [factories.a_node(i, capacity=slots(cpu=8), max_sessions=4) for i in (1, 2)]
    session = factories.a_running(1, slots(cpu=3), on=(1, 2, 9))
    book = _book(session, nodes=nodes)
    frees = [(held.node_id, held.slots) for held in session.allocations]

    book.add_leaving(session, frees, place=True)
    assert [book.rooms[i].releasing for i in (1, 2)] == [{"cpu": 3, rooms.PLACES: 1}] * 2
    assert [a.leaving for a in book.accounts(session)] == [{"cpu": 9, limits.SESSIONS: 1}] * 2

    book = _book(session, nodes=nodes)
    book.add_leaving(session, frees[:2], place=True)
    book.stay(session)
    assert [book.rooms[i].releasing for i in (1, 2)] == [{"cpu": 0, rooms.PLACES: 0}] * 2
    assert [a.leaving for a in book.accounts(session)] == [{"cpu": 0, limits.SESSIONS: 0}] * 2


def test_a_suspended_session_that_leaves_frees_no_place_and_no_session():
    session = factories.a_suspended(1, slots(cpu=3), holds=slots(cpu=3))
    book = _book(session)

    book.add_leaving(session, [(1, slots(cpu=3))], place=False)

    assert book.rooms[1].releasing == {"cpu": 3}
    assert [account.leaving for account in book.accounts(session)] == [{"cpu": 3}] * 2


def test_a_holder_that_starts_gives_back_what_its_reservation_drew_and_counted():
    stopping, holder = _stopping(1, slots(cpu=3)), factories.a_session(2)
    kept = _kept(2, slots(cpu=5), slots(cpu=2), (1,))
    book, without = _book(stopping, holder, reservations=(kept,)), _book(stopping, holder)
    assert _lefts(book) == [{"cpu": 4, "sessions": 4}] * 2

    book.end_reservation(holder, kept, [stopping])

    assert _lefts(book) == _lefts(without)
    assert book.rooms[1].free == without.rooms[1].free
    assert _positive(book.rooms[1].drawn) == _positive(without.rooms[1].drawn) == {}


def test_a_reservation_on_a_node_of_another_group_keeps_nothing_here():
    kept = dataclasses.replace(_kept(2, slots(cpu=5), slots(cpu=2), ()), node_id=9)
    book = _book(factories.a_session(2), reservations=(kept,))

    assert _lefts(book) == [{"cpu": 6, "sessions": 4}] * 2
    assert book.rooms[1].free["cpu"] == 8


def test_a_reservation_is_promised_no_more_than_its_victims_free():
    sessions = [_stopping(1, slots(cpu=2)), _stopping(3, slots(cpu=2)), factories.a_session(2)]
    room = _book(*sessions, reservations=(_kept(2, slots(cpu=5), slots(cpu=1), (1,)),)).rooms[1]

    assert (room.promised["cpu"], room.net_releasing("cpu")) == (2, 2)


def test_devices_are_taken_and_given_back_by_their_numbers():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=4))
    book = _book(nodes=[node])

    book.take(1, slots(cuda_device=2), {"cuda.device": (0, 2)})
    assert (book.rooms[1].indices, book.rooms[1].free["cuda.device"]) == ({"cuda.device": (1, 3)}, 2)
    book.give_back(1, slots(cuda_device=1), {"cuda.device": (2,)})
    assert (book.rooms[1].indices, book.rooms[1].free["cuda.device"]) == ({"cuda.device": (1, 2, 3)}, 3)
