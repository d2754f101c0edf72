"""Pages and fragments around the sessions: overview, groups, queues, nodes, decisions, first steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler import models
from tests import model_factories, worlds
from xceweb.dashboard.views import cluster, decisions, first_steps, overview, queues

ClientOf = Callable[[str], Client]
FRAGMENTS = {
    "overview headline": (overview.overview, "/?part=headline", 'id="headline"'),
    "overview capacity": (overview.overview, "/?part=capacity_cards", 'id="capacity"'),
    "overview states": (overview.overview, "/?part=states", 'id="states"'),
    "overview mine": (overview.overview, "/?part=my_sessions", 'id="mine"'),
    "group": (cluster.group_detail, "/groups/gpu/?part=group_live", 'id="group-live"'),
    "queues": (queues.queue_list, "/queues/?part=queue_card", 'id="queue-card"'),
    "nodes": (cluster.node_list, "/nodes/?part=node_cards", 'id="node-cards"'),
    "node": (cluster.node_detail, "/nodes/gpu-1/?part=node_live", 'id="node-live"'),
}


@pytest.mark.parametrize("name", sorted(FRAGMENTS))
def test_a_part_comes_alone(world: worlds.World, client_of: ClientOf, name: str) -> None:
    """Without the frame, with the element that it replaces."""
    _, address, mark = FRAGMENTS[name]

    text = client_of("owner").get(address).content.decode()

    assert mark in text
    assert "<html" not in text


@pytest.mark.parametrize("address", ["/?part=round", "/groups/gpu/?part=x", "/nodes/?part=../base"])
def test_other_parts_are_not_there(world: worlds.World, client_of: ClientOf, address: str) -> None:
    """Only what the page names."""
    assert client_of("owner").get(address).status_code == 404


def test_a_page_carries_the_number_up_to_which_it_knows(world: worlds.World, client_of: ClientOf) -> None:
    """The socket goes on from there; and no cache keeps the page."""
    answer = client_of("owner").get("/")

    assert 'data-live-number="7"' in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"


def test_an_empty_installation_leads_its_administrator_to_the_first_steps(client: Client, db: None) -> None:
    """Everybody else sees the empty overview."""
    client.force_login(model_factories.an_administrator())
    assert client.get("/")["Location"] == urls.reverse("dashboard:first-steps")

    client.force_login(model_factories.a_user())
    assert client.get("/").status_code == 200
    assert first_steps.first_steps.__doc__


def test_an_operator_drains_a_node_with_a_reason(world: worlds.World, client_of: ClientOf) -> None:
    """And everybody reads it."""
    client = client_of("operator")

    page = client.post("/nodes/gpu-1/act/", {"state": "draining", "reason": "new fan"}, follow=True)

    world.node.refresh_from_db()
    assert (world.node.state, world.node.state_reason) == ("draining", "new fan")
    assert "new fan" in page.content.decode()


@pytest.mark.parametrize("fields", [{"state": "draining", "reason": " "}, {"state": "down", "reason": "x"}])
def test_a_node_act_that_cannot_be_changes_nothing(
    world: worlds.World, client_of: ClientOf, fields: dict[str, str]
) -> None:
    """The page says why."""
    page = client_of("operator").post("/nodes/gpu-1/act/", fields, follow=True)

    world.node.refresh_from_db()
    assert world.node.state == "ready"
    assert "callout--fail" in page.content.decode()


@pytest.mark.parametrize(
    ("who", "status", "state"), [("administrator", 200, "down"), ("operator", 403, "ready")]
)
def test_only_an_administrator_declares_a_node_lost(
    world: worlds.World, client_of: ClientOf, who: str, status: int, state: str
) -> None:
    """Its sessions do not wait for it any longer."""
    page = client_of(who).post(
        "/nodes/gpu-1/act/", {"state": "lost", "reason": "burnt", "confirm": "gpu-1"}, follow=True
    )

    world.node.refresh_from_db()
    assert (page.status_code, world.node.state) == (status, state)


def test_the_history_is_filtered_by_the_address(world: worlds.World, client_of: ClientOf) -> None:
    """What cannot be read narrows nothing."""
    client = client_of("owner")

    assert "high-work" in client.get("/decisions/?outcome=open&page=x").content.decode()
    assert "high-work" not in client.get("/decisions/?axis=queue").content.decode()
    assert decisions.decision_list.__doc__


@pytest.mark.parametrize("confirm", ["", "gpu-2", "GPU-1"])
def test_nobody_declares_a_node_lost_without_its_name(
    world: worlds.World, client_of: ClientOf, confirm: str
) -> None:
    """However silent it is."""
    sent = {"state": "lost", "reason": "burnt", "confirm": confirm}
    page = client_of("administrator").post("/nodes/gpu-1/act/", sent, follow=True)

    assert "write gpu-1 to declare it lost" in page.content.decode()
    assert models.Node.objects.get(name="gpu-1").state == "ready"


def test_a_group_that_is_stopped_says_so(world: worlds.World, client_of: ClientOf) -> None:
    """Everybody who waits there reads it."""
    model_factories.a_policy_version(world.group, starting=False)

    assert "starts nothing new" in client_of("viewer").get("/groups/gpu/").content.decode()
    assert models.ResourceGroup.objects.get(slug="gpu").policy is not None


def test_a_manager_stops_a_group_and_lets_it_start_again(world: worlds.World, client_of: ClientOf) -> None:
    """Both with a reason, and the page says what came of it."""
    client = client_of("manager")

    said = [
        client.post(f"/groups/gpu/act/{verb}/", {"reason": reason}, follow=True).content.decode()
        for verb, reason in (
            ("stop-starting", "the power fails"),
            ("start-again", " "),
            ("start-again", "it is back"),
        )
    ]

    assert "gpu starts nothing new." in said[0]
    assert "callout--fail" in said[1]
    assert "gpu starts sessions again." in said[2]


def test_an_action_that_is_unknown_is_not_found(world: worlds.World, client_of: ClientOf) -> None:
    """As any address that does not exist."""
    assert client_of("manager").post("/groups/gpu/act/explode/", {"reason": "because"}).status_code == 404
