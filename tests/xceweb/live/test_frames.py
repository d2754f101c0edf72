"""Rows of the feed: words, links, bounds."""

from __future__ import annotations

import pytest

from scheduler.selectors import event_log, permissions
from tests import model_factories, worlds
from xceweb.live import frames

pytestmark = pytest.mark.django_db


def newest(world: worlds.World) -> event_log.Entry:
    """Return the last event."""
    return event_log.after(event_log.last_number() - 1, limit=1)[0]


@pytest.mark.parametrize(
    ("kind", "about", "link"),
    [
        ("session.started", "session", "/sessions/"),
        ("node.state_changed", "node", "/nodes/gpu-1/"),
        ("group.policy_changed", "group", "/groups/gpu/"),
        ("queue.changed", "group", "/queues/"),
    ],
)
def test_an_event_links_to_what_it_is_about(kind: str, about: str, link: str) -> None:
    """Sessions before nodes before groups; queues have one page together."""
    world = worlds.a_world()
    subject = {"session": world.running, "node": world.node, "group": world.group}[about]
    fields = {"group": world.group} if about == "node" else {}
    model_factories.an_event(kind, **{about: subject}, **fields)

    assert frames.link(newest(world)).startswith(link)


def test_a_batch_carries_its_bounds_and_times_as_text() -> None:
    """Ready for JSON."""
    world = worlds.a_world()

    batch = frames.batch("cluster", (6, 7), [(newest(world), permissions.Sight.FULL)])

    assert (batch["prev"], batch["last"], batch["topic"]) == (6, 7, "cluster")
    assert batch["events"][0]["at"].endswith("+00:00")
    assert batch["events"][0]["text"] == "**high-work** runs"
