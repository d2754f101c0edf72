"""Rows of the feed: words, links, bounds."""

from __future__ import annotations

import json

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
    """Ready to be sent."""
    world = worlds.a_world()
    text = frames.written(newest(world), permissions.Sight.FULL)

    (found,) = frames.batches("cluster", (6, 7), [(7, text)])

    batch = json.loads(found.text)
    assert (batch["type"], batch["prev"], batch["last"], batch["topic"]) == ("events", 6, 7, "cluster")
    assert (found.type, found.last) == ("events", 7)
    assert batch["events"][0]["at"].endswith("+00:00")
    assert (batch["events"][0]["text"], batch["events"][0]["version"]) == ("**high-work** runs", 1)


@pytest.mark.parametrize("sizes", [[300] * 500, [4_000] * 5, [8_000, 10, 8_000], [10] * 3, []])
def test_a_long_batch_goes_in_parts_that_join(sizes: list[int]) -> None:
    """None above 8 KiB; each says what its reader holds before and after it, and nothing comes twice."""
    events = [(3 * place, json.dumps("x" * (size - 2))) for place, size in enumerate(sizes, start=1)]
    topic = "session:" + "0" * 36

    found = frames.batches(topic, (0, 9_999), events)

    bodies = [json.loads(one.text) for one in found]
    assert max(len(one.text.encode()) for one in found) <= frames.MOST_BYTES
    assert [body["prev"] for body in bodies] == [0, *[body["last"] for body in bodies[:-1]]]
    assert [body["last"] for body in bodies] == [one.last for one in found]
    assert bodies[-1]["last"] == 9_999
    assert [event for body in bodies for event in body["events"]] == ["x" * (size - 2) for size in sizes]


@pytest.mark.parametrize(
    ("kind", "name", "node"),
    [
        ("session.started", "viewer", None),
        ("session.started", "operator", "gpu-1"),
        ("node.state_changed", "viewer", "gpu-1"),
    ],
)
def test_a_node_is_named_to_who_may_read_where_a_session_runs(kind: str, name: str, node: str | None) -> None:
    """What concerns the node itself everybody of its group is told."""
    world = worlds.a_world()
    about = {"session": world.running} if kind.startswith("session") else {"group": world.group}
    model_factories.an_event(kind, node=world.node, **about)

    (row,) = frames.rows(event_log.seen(event_log.rights_of(world.people[name]), [newest(world)]))

    assert row["node"] == node


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
