"""Queues, nodes, groups and versions of rules, as far as one viewer may see them."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.selectors import groups, nodes, overview, policies, queues, sessions
from tests import model_factories, worlds


def test_queues_show_rules_and_load(world: worlds.World) -> None:
    """Whose sessions may stop whose, and how many run and wait."""
    rows = {row.name: row for row in queues.rows(world.people["viewer"])}

    assert sorted(rows) == ["background", "normal", "urgent"]
    assert rows["urgent"].may_preempt == ["background"]
    assert rows["background"].is_preemptible
    assert (rows["normal"].running, rows["normal"].pending) == (1, 1)


def test_a_queue_of_two_groups_names_the_visible_one(world: worlds.World) -> None:
    """And counts there alone."""
    world.queues["normal"].groups.add(world.elsewhere)

    row = next(row for row in queues.rows(world.people["outsider"]) if row.name == "normal")

    assert (row.groups, row.running, row.pending) == (["elsewhere"], 0, 0)


def test_a_plug_in_that_is_gone_is_said(world: worlds.World) -> None:
    """That queue preempts nobody, and everybody can read it."""
    models.Queue.objects.filter(slug="urgent").update(preempt_policy="gone_with_the_wheel")

    row = next(row for row in queues.rows(world.people["viewer"]) if row.name == "urgent")

    assert "gone_with_the_wheel is not installed" in row.policy_error


def test_queues_of_one_group(world: worlds.World) -> None:
    """For the group's page."""
    assert [row.name for row in queues.rows(world.people["administrator"], group=world.elsewhere)] == [
        "other"
    ]


def test_a_node_of_another_group_is_not_there(world: worlds.World) -> None:
    """For an outsider."""
    assert nodes.require(world.people["viewer"], "gpu-1") == world.node
    with pytest.raises(errors.NotVisible):
        nodes.require(world.people["outsider"], "gpu-1")
    assert nodes.uses(world.people["outsider"]) == []


def test_a_node_tells_its_devices_and_what_sessions_hold(world: worlds.World) -> None:
    """A suspended session that released everything holds nothing."""
    holder = model_factories.a_session(
        owner=world.people["submitter"],
        queue=world.queues["background"],
        group=world.group,
        state="running",
        slots=model_factories.ONE_GPU,
    )

    devices, held = nodes.devices(world.node), {one.session.name: one for one in nodes.holdings(world.node)}

    assert [(device.state, device.session_id) for device in devices[:2]] == [
        ("allocated", holder.pk),
        ("free", None),
    ]
    assert held["low-work"].slots == {}
    assert held[holder.name].indices == {"cuda.device": [0]}
    assert nodes.running(world.people["viewer"], [world.node]) == {world.node.pk: 3}


def test_a_node_is_silent_before_its_first_report(world: worlds.World) -> None:
    """Then it has a time."""
    assert nodes.last_report(nodes.require(world.people["viewer"], "gpu-1")) is None
    at = model_factories.ago(1)
    models.AgentStatus.objects.create(node=world.node, last_report_at=at)
    assert nodes.last_report(nodes.require(world.people["viewer"], "gpu-1")) == at


def test_waiting_sessions_are_summed_by_reason(world: worlds.World) -> None:
    """Tier after tier; a session that no round has seen counts as such, one that is held as held."""
    for _ in range(2):
        model_factories.a_session(
            owner=world.people["owner"], queue=world.queues["normal"], group=world.group, node_count=2
        )

    found = groups.waiting_by_reason(world.people["viewer"], world.group)

    assert [(row.reason, row.count) for row in found] == [("no-resources", 1), ("not-evaluated", 2)]
    assert found[1].slots == {"cpu": 4_000, "mem": 4 << 30}
    models.Session.objects.filter(pend_reason=None, state="pending").update(is_held=True)
    again = groups.waiting_by_reason(world.people["viewer"], world.group)
    assert [(row.reason, row.count) for row in again] == [("held", 2), ("no-resources", 1)]
    assert groups.by_state(world.people["viewer"], world.group)["pending"] == 3


@pytest.mark.parametrize(
    ("name", "count"), [("viewer", 0), ("owner", 1), ("operator", 1), ("administrator", 1)]
)
def test_of_those_that_wait_a_list_shows_those_whose_reason_may_be_read(
    world: worlds.World, name: str, count: int
) -> None:
    """The number on the group's page is that of its list."""
    viewer = world.people[name]

    (row,) = groups.waiting_by_reason(viewer, world.group)
    listed = sessions.page(viewer, sessions.Filters(group=world.group.slug, reason=row.reason))

    assert (row.count, row.readable, listed.total) == (1, count, count)


def test_versions_tell_what_each_changed(world: worlds.World) -> None:
    """Newest first; the first changed nothing."""
    model_factories.a_policy_version(world.group, preemption_state="off")
    model_factories.a_policy_version(world.group, grace_period=30, preemption_min_runtime=5)

    found = policies.history(world.group)

    assert [change.rules for change in found] == [
        {"preemption_min_runtime": (0, 5), "grace_period": (10, 30)},
        {"preemption_state": ("on", "off")},
        {},
    ]
    assert policies.current(world.group).version == 3
    assert policies.version(world.group, 2) == found[1].row
    assert policies.version(world.group, 9) is None


def test_a_short_history_still_knows_the_oldest_change(world: worlds.World) -> None:
    """The version before the last shown one is read, too."""
    model_factories.a_policy_version(world.group, grace_period=30)

    assert [change.rules for change in policies.history(world.group, limit=1)] == [{"grace_period": (10, 30)}]


@pytest.mark.parametrize(("name", "count"), [("viewer", 0), ("operator", 0), ("manager", 1), ("owner", 1)])
def test_private_sessions_are_in_no_total_of_others(world: worlds.World, name: str, count: int) -> None:
    """What is 404 for somebody is not counted for them either."""
    models.Session.objects.update(is_private=True)
    viewer = world.people[name]
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    model_factories.a_session(node=world.node, state="running", is_private=True, **fields)
    glance = overview.groups(viewer)[0]
    queue = next(row for row in queues.rows(viewer) if row.name == "normal")

    states = groups.by_state(viewer, world.group)

    assert (states["pending"], glance.waiting, queue.pending) == (count, count, count)
    assert states["running"] == 2 * count
    assert glance.running == queue.running == 2 * count
    assert len(groups.waiting_by_reason(viewer, world.group)) == count
    assert bool(nodes.running(viewer, [world.node])) is bool(count)
    assert (queue.oldest_wait_s is None) is (count == 0)
