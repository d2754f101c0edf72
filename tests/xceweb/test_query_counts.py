"""How many queries each page costs, whatever the number of rows: a page that starts to ask per row fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django import urls
from django.test import Client

from tests import decision_factories, model_factories, worlds

#: Log-in (2), the newest number (1), the roles (1) and the frame (3) are in each number.
MOST: dict[str, tuple[int, Callable[[worlds.World], str]]] = {
    "overview": (37, lambda world: urls.reverse("dashboard:overview")),
    "sidebar": (6, lambda world: urls.reverse("common:navigation")),
    "session list": (13, lambda world: urls.reverse("dashboard:session-list")),
    "waiting": (41, lambda world: urls.reverse("dashboard:session-detail", args=[world.waiting.public_id])),
    "victim": (21, lambda world: urls.reverse("dashboard:session-detail", args=[world.victim.public_id])),
    "queues": (17, lambda world: urls.reverse("dashboard:queue-list")),
    "queue": (41, lambda world: urls.reverse("dashboard:queue-detail", args=["normal"])),
    "nodes": (13, lambda world: urls.reverse("dashboard:node-list")),
    "node": (23, lambda world: urls.reverse("dashboard:node-detail", args=["gpu-1"])),
    "group": (31, lambda world: urls.reverse("dashboard:group-detail", args=["gpu"])),
    "policy": (21, lambda world: urls.reverse("console:group-policy", args=["gpu"])),
    "decisions": (17, lambda world: urls.reverse("dashboard:decision-list")),
    "decision": (
        18,
        lambda world: urls.reverse("dashboard:decision-detail", args=[world.decision.public_id]),
    ),
    "events": (4, lambda world: urls.reverse("live:event-list")),
}


@pytest.fixture
def crowd(world: worlds.World) -> worlds.World:
    """The small cluster with many rows of each kind."""
    for number in range(12):
        node = model_factories.a_node(f"more-{number}", group=world.group)
        fields = {
            "owner": world.people["submitter"],
            "queue": world.queues["background"],
            "group": world.group,
        }
        running = model_factories.a_session(state="running", node=node, **fields)
        waiting = model_factories.a_session(**fields, priority=20, job_priority=50)
        decision_factories.a_pend_reason(waiting)
        decision_factories.a_preemption(waiting, [running], node=node)
        model_factories.an_event("session.started", session=running)
        model_factories.a_queue(groups=[world.group], preempts=[world.queues["background"]])
    return world


@pytest.mark.parametrize("page", sorted(MOST))
@pytest.mark.parametrize("who", ["owner", "administrator"])
def test_a_page_costs_a_fixed_number_of_queries(
    crowd: worlds.World,
    client_of: Callable[[str], Client],
    django_assert_max_num_queries: Any,
    page: str,
    who: str,
) -> None:
    """Twelve rows of each kind cost no more than one."""
    most, address = MOST[page]
    client = client_of(who)

    with django_assert_max_num_queries(most):
        assert client.get(address(crowd)).status_code == 200
