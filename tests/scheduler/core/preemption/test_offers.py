"""What one preemptor is offered, whole and in parts."""

from __future__ import annotations

import numpy as np

from scheduler.core import context, entities
from scheduler.core.preemption import eligibility, offers, problems, rosters, tables
from tests import factories
from tests.factories import slots

QUEUES = (
    factories.a_queue(1, name="urgent", preemptible_queues=frozenset({2})),
    factories.a_queue(2, name="background", preemptible=True),
)


def _context(*, policy=factories.ON, owners=None, on=((1,), (2,), (3,))):
    running = [
        factories.a_running(place, slots(cpu=4), queue_id=2, owner_id=2, priority=place, on=nodes)
        for place, nodes in enumerate(on, start=1)
    ]
    wanted = factories.a_session(9, slots(cpu=2), priority=90)
    nodes = [factories.a_node(node_id) for node_id in (1, 2, 3)]
    more = {} if owners is None else {"owners": owners}
    return context.Context(
        factories.a_snapshot([*running, wanted], nodes=nodes, queues=QUEUES, policy=policy, **more)
    )


def _offer(ctx, axis=entities.Axis.QUEUE, **more):
    question, roster = eligibility.ask(ctx, ctx.session_by_id[9], axis), rosters.of(ctx)
    return offers.Offer(question, roster.codes(question) == rosters.LEGAL, **more)


def test_a_part_has_the_same_targets_as_the_whole():
    offer = _offer(_context())

    assert [target.name for target in offer] == ["n1", "n2", "n3"]
    assert tuple(offer.part(np.array([2, 0]))) == (offer[0], offer[2])
    assert tuple(offer.of_node(2)) == (offer[1],)
    assert offer.of_node(99) is None
    assert tables.of(offer) is offer.whole()
    assert (len(offer), offer.sizes.tolist(), offer.session_ids()) == (3, [1, 1, 1], [1, 2, 3])


def test_one_node_alone_can_be_asked_for():
    offer = _offer(_context(), only=2)

    assert ([target.name for target in offer], offer.kept) == (["n2"], None)
    assert offer.of_node(1) is None


def test_a_node_that_changed_is_asked_again_and_what_was_said_before_stands():
    ctx = _context()
    before = _offer(ctx)
    ctx.ledger.take(2, slots(), {})
    ctx.ledger.add_leaving(ctx.session_by_id[2], ((2, slots(cpu=4)),), place=True)

    after = _offer(ctx)

    assert after.kept is before.kept is not None
    assert (before.sizes.tolist(), after.sizes.tolist()) == ([1, 1, 1], [1, 0, 1])
    assert (before.session_ids(), after.session_ids()) == ([1, 2, 3], [1, 3])


def test_nothing_is_kept_where_more_counts_than_the_state_of_a_node():
    def rules(**more):
        return factories.dataclasses.replace(factories.ON, **more)

    limited = (entities.Owner(1, entities.Usage(sessions=1, max_sessions=1)),)
    by_share = entities.PreemptionOrder.SMALLEST_RESOURCES

    assert _offer(_context()).kept is not None
    assert _offer(_context(policy=rules(max_suspended_per_node=3))).kept is None
    assert _offer(_context(policy=rules(order=by_share))).kept is None
    assert _offer(_context(owners=limited)).kept is None
    assert _offer(_context(on=((1, 2), (3,)))).kept is None


def test_without_a_legal_session_there_is_no_offer():
    ctx = _context()

    judged = problems.judge(ctx, ctx.session_by_id[9], entities.Axis.OWNER)

    assert (judged.offer, judged.targets, judged.helpful, judged.scale) == (None, (), frozenset(), 1)
