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


@pytest.mark.parametrize(
    ("name", "changed"), [("viewer", ["state"]), ("operator", ["job_priority", "state"])]
)
def test_a_summary_names_no_column_but_the_state(name: str, changed: list[str]) -> None:
    """Priorities are not part of it."""
    world = worlds.a_world()
    model_factories.an_event("session.started", session=world.running, changed=["job_priority", "state"])
    rights = event_log.rights_of(world.people[name])

    (row,) = frames.rows(event_log.seen(rights, [newest(world)]))

    assert row["changed"] == changed


@pytest.mark.parametrize("kind", ["session.held", "session.changed", "session.waits", "session.stuck"])
def test_a_summary_is_not_told_what_is_no_state(kind: str) -> None:
    """Neither live nor in the feed; an operator and the owner are."""
    world = worlds.a_world()
    model_factories.an_event(kind, session=world.running, changed=["job_priority"])
    entry = newest(world)

    def told(name: str) -> tuple[bool, bool]:
        viewer = world.people[name]
        feed = [one.number for one, _ in event_log.newest_visible(viewer, limit=1)]
        return bool(event_log.seen(event_log.rights_of(viewer), [entry])), feed == [entry.number]

    assert told("viewer") == told("submitter") == (False, False)
    assert told("operator") == told("owner") == told("administrator") == (True, True)
    assert len(event_log.newest_visible(world.people["viewer"], limit=1)) == 1
