"""Reservations of other groups count towards limits that reach over all groups, net of what is still held."""

from __future__ import annotations

import pytest

from scheduler.selectors import promises
from tests.scheduler.services import conftest

make_cluster = conftest.make_cluster


@pytest.fixture
def reserving(make_cluster):
    """A cluster with one reservation: alice's higher session waits for her lower one to stop."""
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low = cluster.run(cluster.alice, cpu="3", job_priority=1)
    cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    return cluster, low


def test_a_group_does_not_count_its_own_reservations_here(reserving):
    cluster, _ = reserving

    assert dict(promises.elsewhere(cluster.group.pk).owners) == {}


def test_another_group_counts_them_net_of_what_the_victim_still_holds(reserving):
    cluster, _ = reserving

    found = promises.elsewhere(0)

    assert dict(found.owners[cluster.alice.pk]) == {"cpu": 1000, "sessions": 0}
    assert dict(found.queues[cluster.queues["normal"].pk]) == {"cpu": 1000, "sessions": 0}


def test_another_group_counts_them_whole_once_the_victim_is_stopped(reserving):
    cluster, low = reserving
    cluster.agent.suspends(low)

    found = promises.elsewhere(0)

    assert dict(found.owners[cluster.alice.pk]) == {"cpu": 4000, "sessions": 1}
