"""When sessions would start if nobody were stopped for them."""

from __future__ import annotations

from scheduler.core import waiting
from tests import factories
from tests.factories import slots

NOW, SECOND = factories.NOW, factories.SECOND


def _ends_in(seconds, session_id, **more):
    return factories.a_running(session_id, slots(cpu=4), wall_limit_s=3600 + seconds, **more)


def test_it_starts_on_the_node_where_the_limits_give_it_room_first():
    nodes = [factories.a_node(1), factories.a_node(2)]
    runs = [_ends_in(60, 1), _ends_in(20, 2, on=(2,))]
    view = factories.a_snapshot([*runs, factories.a_session(9, slots(cpu=2))], nodes=nodes)

    assert waiting.starts_without(view, [9]) == {9: NOW + 20 * SECOND}


def test_without_a_limit_nobody_knows():
    view = factories.a_snapshot([factories.a_running(1, slots(cpu=4)), factories.a_session(9, slots(cpu=2))])

    assert waiting.starts_without(view, [9]) == {9: None}


def test_what_is_free_starts_it_now():
    view = factories.a_snapshot([factories.a_session(9, slots(cpu=2))])

    assert waiting.starts_without(view, [9]) == {9: NOW}
