"""What a round gives on one node, added up beside the ledger."""

from __future__ import annotations

import dataclasses

from scheduler.core import decisions, entities, given
from tests import factories
from tests.factories import slots


def test_a_total_adds_kind_by_kind():
    assert given.total([slots(cpu=1), slots(cpu=2, mem=3)]) == slots(cpu=3, mem=3)


def test_a_resume_takes_what_it_does_not_hold_yet():
    suspended = factories.a_suspended(1, slots(cpu=3), holds=slots(cpu=1))
    start = decisions.Dispatch(1, (decisions.NodeGrant(1, slots(cpu=3), {}),), is_resume=True)

    assert [part[0] for part in given.grants_on({1: suspended}, [start], 1)] == [slots(cpu=2)]
    assert list(given.grants_on({1: suspended}, [start], 2)) == []


def test_preemptions_and_waits_draw_and_shadows_do_not():
    view = factories.a_snapshot(
        [factories.a_running(1, slots(cpu=3), job_priority=1), factories.a_session(9, slots(cpu=4))]
    )
    stop, _ = factories.decide(view)
    wait = decisions.Wait(1, slots(cpu=2), slots(cpu=2), {}, ())
    pend = decisions.Pend(8, decisions.PendReason.AWAITING_RELEASE, {}, wait=wait)

    found = [stop, dataclasses.replace(stop, is_shadow=True), pend]

    assert [part[0] for part in given.draws_on(found, 1)] == [slots(cpu=1), slots(cpu=2)]
    assert list(given.draws_on(found, 2)) == []


def test_a_reservation_ends_with_a_start_on_it_or_when_it_is_taken_over():
    view = factories.a_snapshot(
        [factories.a_running(1, slots(cpu=4), job_priority=1), factories.a_session(9)]
    )
    stop, _ = factories.decide(view)
    kept = tuple(
        entities.Reservation(i, i, node, slots(cpu=1), slots(cpu=1), (), 0)
        for i, node in ((5, 1), (6, 1), (7, 2))
    )
    view = dataclasses.replace(view, reservations=kept)
    start = decisions.Dispatch(5, (), reservation_id=5)

    found = [start, dataclasses.replace(stop, takes_over=6), decisions.Dispatch(7, (), reservation_id=7)]

    assert given.ended_on(view, found, 1) == {5, 6}
