"""Rules of several queues that change at once: what rests on any of them is taken back."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.services import actors, queues
from tests.scheduler.services import conftest


@pytest.mark.parametrize(
    ("changes", "is_taken_back"),
    [
        ({"urgent": {"preemptible_queues": []}, "normal": {"preemptible": True}}, True),
        ({"background": {"preemptible": False}, "urgent": {"preemptible_queues": ["normal"]}}, True),
        (
            {"normal": {"preemptible": True}, "urgent": {"preemptible_queues": ["background", "normal"]}},
            False,
        ),
    ],
)
def test_a_stop_stands_as_long_as_the_rules_together_allow_it(make_cluster, changes, is_taken_back):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low = cluster.run(cluster.bob, cpu="4", queue="background", priority=5)
    high = cluster.submit(cluster.alice, cpu="4", queue="urgent", priority=50)
    cluster.round()
    assert conftest.state_of(low) == "preempted"

    wishes = [queues.Wish(cluster.queues[name], wanted) for name, wanted in changes.items()]
    queues.change_queues(actors.of_user(cluster.admin), wishes, reason="a test of rules")

    assert models.Reservation.objects.filter(session=high).exists() != is_taken_back
    assert not models.PreemptionEdge.objects.filter(winner=high).exists()
