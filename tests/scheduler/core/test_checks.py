"""What keeps a session waiting whatever is free."""

from __future__ import annotations

import pytest

from scheduler.core import checks, context, decisions, entities
from tests import factories
from tests.factories import slots

R, D = decisions.PendReason, entities.DependencyState
LIMITED = entities.Usage(used=slots(cpu=3), sessions=1, max_slots={"cpu": 4}, max_sessions=2)


def _first(session, **more):
    return checks.first_failure(context.Context(factories.a_snapshot([session], **more)), session)


def test_the_tests_stand_in_the_order_of_precedence():
    order = list(R)

    assert [order.index(reason) for reason, _ in checks.TESTS] == list(range(len(checks.TESTS)))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"is_held": True}, R.HELD),
        ({"queue_id": 9}, R.UNKNOWN_QUEUE),
        ({"begin_at": factories.NOW + 1}, R.BEGIN_TIME),
        ({"dependency": D.WAITING}, R.DEPENDENCY),
        ({"dependency": D.IMPOSSIBLE}, R.DEPENDENCY_IMPOSSIBLE),
        ({"labels": {"zone": frozenset("z")}}, R.NO_MATCHING_NODE),
        ({"request": slots(cpu=5)}, R.NEVER_FITS),
        ({"request": slots(cpu=1, tape=1)}, R.NEVER_FITS),
        ({"node_count": 2}, R.NEVER_FITS),
    ],
    ids=lambda value: str(value) if isinstance(value, R) else "",
)
def test_a_session_waits_for_its_own_reason(fields, reason):
    assert _first(factories.a_session(1, **fields))[0] is reason


def test_a_session_that_may_start_has_no_reason():
    assert _first(factories.a_session(1, begin_at=factories.NOW)) is None


def test_a_stopped_group_and_a_stopped_queue_start_nothing():
    stopped = factories.a_queue(state=entities.QueueState.STOPPED)

    assert _first(factories.a_session(1), is_starting=False)[0] is R.GROUP_STOPPED
    assert _first(factories.a_session(1), queues=(stopped,)) == (R.QUEUE_STOPPED, {"queue": "q1"})


def test_a_draining_or_down_node_still_counts_for_what_could_ever_run():
    node = factories.a_node(state=entities.NodeState.DOWN)

    assert _first(factories.a_session(1, slots(cpu=4)), nodes=[node]) is None


def test_never_fits_tells_the_request_and_the_largest_node():
    nodes = [factories.a_node(1), factories.a_node(2, capacity=slots(cpu=6))]

    _, facts = _first(factories.a_session(1, slots(cpu=9)), nodes=nodes)

    assert (facts["asked.cpu"], facts["most.cpu"], facts["nodes.large"]) == (9, 6, 0)


def test_a_request_above_a_limit_is_told_with_both_numbers():
    node = factories.a_node(capacity=slots(cpu=9))
    session = factories.a_session(1, slots(cpu=5))
    expected = {"asked.cpu": 5, "limit.cpu": 4}

    by_owner = _first(session, nodes=[node], owners=(entities.Owner(1, LIMITED),))
    by_queue = _first(session, nodes=[node], queues=(factories.a_queue(usage=LIMITED),))

    assert by_owner == (R.EXCEEDS_OWNER_LIMIT, expected)
    assert by_queue == (R.EXCEEDS_QUEUE_LIMIT, expected)


@pytest.mark.parametrize(
    "fields",
    [{"begin_at": factories.NOW + 1}, {"dependency": D.WAITING}, {"labels": {"zone": frozenset("z")}}],
)
def test_a_resume_is_not_asked_again_what_its_start_was_asked(fields):
    assert _first(factories.a_suspended(1, **fields)) is None


def test_a_held_suspended_session_resumes_only_on_release():
    assert _first(factories.a_suspended(1, is_held=True))[0] is R.HELD


def test_a_used_up_limit_tells_what_is_left():
    session = factories.a_session(1, slots(cpu=2))
    ctx = context.Context(factories.a_snapshot([session], owners=(entities.Owner(1, LIMITED),)))

    reason, facts = checks.used_up(ctx, session, {"cpu": 2, "sessions": 1})

    assert reason is R.OWNER_LIMIT
    assert facts == {"asked.cpu": 2, "left.cpu": 1, "limit.cpu": 4}
    assert checks.used_up(ctx, session, {"cpu": 1, "sessions": 1}) is None
