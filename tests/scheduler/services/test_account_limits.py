"""Limits reach over all groups: rounds of several groups at once stay within them, and nobody counts twice."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler import models
from tests import agent_double, model_factories
from tests.scheduler.services import conftest

ON = {"preemption_state": "on", "preemption_mode": "suspend"}


def _elsewhere(cluster):
    """Return another group with a node and its agent, which the normal queue serves too."""
    group = model_factories.a_group("far", **ON)
    node = model_factories.a_node("far-1", group=group, capacity={"cpu": 4000})
    cluster.queues["normal"].groups.add(group)
    cluster.queues["background"].groups.add(group)
    model_factories.a_role(cluster.alice, group, "submitter")
    return dataclasses.replace(cluster, group=group, node=node, agent=agent_double.AgentDouble(node))


def _limit_owner(cluster, **most):
    policy = model_factories.a_resource_policy(**most)
    models.User.objects.filter(pk=cluster.alice.pk).update(policy=policy)
    cluster.alice.refresh_from_db()


def _limit_queue(cluster, **most):
    models.Queue.objects.filter(pk=cluster.queues["normal"].pk).update(**most)


@pytest.mark.parametrize(("limit", "reason"), [(_limit_owner, "owner-limit"), (_limit_queue, "queue-limit")])
@pytest.mark.parametrize("most", [{"max_slots": {"cpu": 5000}}, {"max_concurrent_sessions": 1}])
def test_two_groups_at_once_stay_within_one_limit(make_cluster, between, limit, reason, most):
    cluster = make_cluster()
    far = _elsewhere(cluster)
    limit(cluster, **most)
    here, there = cluster.submit(cluster.alice, cpu="3"), far.submit(cluster.alice, cpu="3")
    between(far.round)

    assert cluster.round().dropped == 1
    assert (conftest.state_of(here), conftest.state_of(there)) == ("pending", "scheduled")
    assert cluster.round().dropped == 0
    assert models.PendReason.objects.get(session=here).reason == reason


def test_what_another_group_has_reserved_counts_towards_the_limit_of_an_owner(make_cluster):
    cluster = make_cluster()
    far = _elsewhere(cluster)
    _limit_owner(cluster, max_slots={"cpu": 5000})
    low, high = far.contest()
    here = cluster.submit(cluster.alice, cpu="2")
    far.agent.suspends(low)

    assert cluster.round().dropped == 0
    assert models.PendReason.objects.get(session=here).reason == "owner-limit"
    far.round()
    assert conftest.state_of(high) == "scheduled"


def test_what_a_victim_of_another_group_still_holds_is_not_counted_twice(make_cluster):
    cluster = make_cluster()
    far = _elsewhere(cluster)
    _limit_owner(cluster, max_slots={"cpu": 6000})
    far.contest()
    here = cluster.submit(cluster.alice, cpu="2")

    cluster.round()

    assert conftest.state_of(here) == "scheduled"
