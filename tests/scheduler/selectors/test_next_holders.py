"""The part of a group that tells who may go on with a stop says the same as the whole (DESIGN 5.5)."""

from __future__ import annotations

from scheduler import models
from scheduler.core import decisions, entities, states
from scheduler.core.preemption import handover
from scheduler.selectors import next_holders, snapshot
from scheduler.services import actors, control
from tests.scheduler.services import conftest

make_cluster = conftest.make_cluster


def test_it_holds_the_rules_the_sessions_and_the_edges(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend", preemption_scope="queue")
    low = cluster.run(cluster.bob, cpu="4", queue="background", priority=5)
    high = cluster.submit(cluster.alice, cpu="2", queue="urgent", priority=50)
    cluster.round()
    other = cluster.submit(cluster.alice, cpu="2", queue="urgent", priority=20)
    cluster.round()
    whole = snapshot.load_snapshot(cluster.group).snapshot
    victim = models.Session.objects.get(pk=low.pk)

    part = next_holders.around(victim, [other])

    assert part.policy == whole.policy
    assert {one.id: one.state for one in part.sessions} == {
        low.pk: states.SessionState.PREEMPTED,
        other.pk: states.SessionState.PENDING,
    }
    assert part.edges == (entities.Edge(high.pk, low.pk),)
    urgent = next(one for one in part.queues if one.name == "urgent")
    assert urgent.preemptible_queues == {cluster.queues["background"].pk}
    found = handover.next_holder(part, low.pk, {other.pk}, decisions.Action.SUSPEND)
    assert found == handover.next_holder(whole, low.pk, {other.pk}, decisions.Action.SUSPEND)
    assert found is not None


def test_edges_of_sessions_that_are_over_are_left_out(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, high = cluster.contest()
    cluster.agent.suspends(low)
    assert next_holders.around(low, []).edges == (entities.Edge(high.pk, low.pk),)

    control.cancel_session(actors.of_user(cluster.alice), high)

    assert models.PreemptionEdge.objects.exists()
    assert next_holders.around(low, []).edges == ()
