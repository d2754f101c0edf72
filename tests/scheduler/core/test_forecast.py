"""When a share of a session could start on a node."""

from __future__ import annotations

import fractions

from scheduler.core import context, entities, forecast, states
from tests import factories
from tests.factories import slots

S = states.SessionState
NOW, SECOND = factories.NOW, factories.SECOND


def _soonest(sessions, request, *, node=None, **more):
    view = factories.a_snapshot(sessions, nodes=[node or factories.a_node()], **more)
    return forecast.soonest(context.Context(view), entities.Allocation(1, request))


def _ends_in(seconds, session_id=1, request=None, **more):
    return factories.a_running(session_id, request, wall_limit_s=3600 + seconds, **more)


def test_what_fits_starts_now():
    assert _soonest([], slots(cpu=4)).moment == NOW


def test_it_starts_when_enough_has_reached_its_wall_time():
    ends = [_ends_in(30, 1, slots(cpu=2)), _ends_in(10, 2), _ends_in(20, 3)]

    assert _soonest(ends, slots(cpu=2)).moment == NOW + 20 * SECOND


def test_a_session_place_counts_like_a_slot():
    node = factories.a_node(max_sessions=1)

    assert _soonest([_ends_in(10)], slots(cpu=1), node=node).moment == NOW + 10 * SECOND


def test_what_is_beyond_its_wall_time_ends_now():
    assert _soonest([_ends_in(-10)], slots(cpu=4)).moment == NOW


def test_a_start_that_is_not_confirmed_runs_its_whole_time():
    waits = factories.a_running(1, state=S.SCHEDULED, wall_limit_s=60)

    assert _soonest([waits], slots(cpu=4)).moment == NOW + 60 * SECOND


def test_what_is_being_stopped_is_through_at_its_deadline():
    stopping = factories.a_running(1, state=S.PREEMPTED, stop_deadline=NOW + 5 * SECOND)

    assert _soonest([stopping], slots(cpu=4)).moment == NOW + 5 * SECOND


def test_what_was_promised_to_others_is_not_counted():
    stopping = factories.a_running(1, slots(cpu=4), state=S.PREEMPTED, stop_deadline=NOW + 5 * SECOND)
    kept = entities.Reservation(7, 9, 1, slots(cpu=3), slots(), (1,), NOW + SECOND)
    sessions, more = [stopping, factories.a_session(9, slots(cpu=3))], {"reservations": (kept,)}

    assert _soonest(sessions, slots(cpu=1), **more).moment == NOW + 5 * SECOND
    assert _soonest(sessions, slots(cpu=2), **more).moment is None


def test_the_share_that_nobody_knows_is_what_is_still_missing_when_all_known_has_ended():
    held = [
        factories.a_running(1, slots(cpu=1)),
        _ends_in(10, 2),
        factories.a_suspended(3, holds=slots(cpu=1)),
    ]

    found = _soonest(held, slots(cpu=4))

    assert (found.moment, found.unknown) == (None, fractions.Fraction(2, 4))


def test_sooner_goes_before_later_before_unknown():
    later, unknown = _soonest([_ends_in(10)], slots(cpu=4)), _soonest([factories.a_running(1)], slots(cpu=4))

    assert _soonest([], slots(cpu=4)).key < later.key < unknown.key


def test_a_resume_waits_for_its_very_device():
    node = factories.a_node(capacity=slots(cpu=4, cuda_device=2))
    busy = _ends_in(10, 1, slots(cuda_device=1), indices={"cuda.device": (0,)})
    view = factories.a_snapshot([busy], nodes=[node])
    ctx = context.Context(view)

    found = [
        forecast.soonest(ctx, entities.Allocation(1, slots(cuda_device=1), {"cuda.device": (index,)})).moment
        for index in (0, 1)
    ]

    assert found == [NOW + 10 * SECOND, NOW]
