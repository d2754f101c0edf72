"""Whether the machine is at work, from what it wrote."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from scheduler import models
from scheduler.selectors import health
from scheduler.services import listening
from tests import worlds

pytestmark = pytest.mark.django_db


def test_a_scheduler_that_never_looked_is_told_apart() -> None:
    """From one that has just looked."""
    assert "never looked" in health.scheduler_problem()

    listening.note()

    assert health.scheduler_problem() == ""


@pytest.mark.parametrize(
    ("late_s", "node_state", "is_settled", "is_late"),
    [
        (60, "ready", False, True),
        (60, "draining", False, True),
        (5, "ready", False, False),
        (60, "suspect", False, False),
        (60, "ready", True, False),
    ],
)
def test_a_command_that_nobody_sends_is_late(
    late_s: int, node_state: str, is_settled: bool, is_late: bool
) -> None:
    """To a node that is heard; a silent one gets its commands when it greets."""
    world = worlds.a_world()
    models.Node.objects.filter(pk=world.node.pk).update(state=node_state)
    now = timezone.now()
    models.AgentCommand.objects.create(
        node=world.node,
        session=world.running,
        epoch=1,
        kind="stop",
        body={},
        created_at=now,
        send_again_at=now - datetime.timedelta(seconds=late_s),
        settled_at=now if is_settled else None,
    )

    assert health.outbox_problem().startswith("1 commands") == is_late
