"""The cluster at a glance."""

from __future__ import annotations

import datetime
from typing import Any

from django.utils import timezone

from scheduler import models
from scheduler.selectors import navigation, overview
from tests import decision_factories, model_factories, worlds


def test_a_viewer_sees_his_groups_alone(world: worlds.World) -> None:
    """An administrator sees all."""
    assert [glance.group.slug for glance in overview.groups(world.people["viewer"])] == ["gpu"]
    assert [g.group.slug for g in overview.groups(world.people["administrator"])] == ["elsewhere", "gpu"]
    assert [link.slug for link in navigation.load(world.people["outsider"]).groups] == ["elsewhere"]


def test_a_group_counts_running_and_waiting(world: worlds.World) -> None:
    """And how long the oldest waits; a suspended session does neither."""
    glance = overview.groups(world.people["viewer"])[0]

    assert (glance.running, glance.waiting) == (1, 1)
    assert 110 <= (glance.oldest_wait_s or 0) <= 600


def test_the_switch_tells_since_when_it_stands(world: worlds.World) -> None:
    """A change of another rule does not start it anew."""
    models.PolicyVersion.objects.all()  # version 1 is of now
    first = overview.groups(world.people["viewer"])[0].state_since
    model_factories.a_policy_version(world.group, grace_period=99)
    same = overview.groups(world.people["viewer"])[0].state_since
    model_factories.a_policy_version(world.group, preemption_state="off")

    glance = overview.groups(world.people["viewer"])[0]

    assert first == same
    assert glance.state == "off"
    assert glance.state_since is not None
    assert first is not None
    assert glance.state_since > first


def test_the_navigation_counts_what_lives(world: worlds.World) -> None:
    """All that the viewer may see, and his own."""
    shown = navigation.load(world.people["owner"])

    assert (shown.alive, shown.mine, shown.groups[0].state) == (3, 3, "on")
    assert navigation.load(world.people["viewer"]).mine == 0


def test_sessions_are_counted_by_state_and_end(world: worlds.World) -> None:
    """Ends of the last 24 hours."""
    fields: dict[str, Any] = {
        "owner": world.people["owner"],
        "queue": world.queues["normal"],
        "group": world.group,
    }
    model_factories.a_session(state="terminated", **fields)
    model_factories.a_session(
        state="terminated", ended_at=timezone.now() - datetime.timedelta(hours=25), **fields
    )

    counts = overview.counts(world.people["viewer"])

    assert (counts.alive["running"], counts.alive["pending"], counts.alive["stopping"]) == (1, 1, 0)
    assert counts.ended == {"success": 1}


def test_what_blocks_is_the_most_frequent_reason(world: worlds.World) -> None:
    """With its group; nothing when nothing waits."""
    blocked = overview.blockage(world.people["viewer"])

    assert blocked == overview.Blockage(1, "no-resources", 1, "gpu")
    assert overview.blockage(world.people["outsider"]) is None


def test_there_is_no_round_before_the_first(world: worlds.World) -> None:
    """Then its number and how long the last ones took, two at least."""
    assert overview.last_round(world.people["viewer"]) is None

    models.GroupRounds.objects.filter(group=world.group).update(
        last_number=8, last_ms=5, last_at=timezone.now()
    )
    found = overview.last_round(world.people["viewer"])

    assert found is not None
    assert (found.number, found.took_us, found.durations_us) == (8, 5_000, [3_000, 5_000])


def test_wasted_room_is_counted_for_a_day(world: worlds.World) -> None:
    """Older waste has been counted."""
    models.Outcome.objects.create(decision=world.decision, kind="wasted", at=timezone.now())
    old = decision_factories.a_preemption(world.running, [world.victim], node=world.node)
    models.Outcome.objects.create(decision=old, kind="wasted", at=timezone.now() - datetime.timedelta(days=2))

    assert overview.wasted_last_day(world.people["viewer"]) == 1
    assert overview.wasted_last_day(world.people["outsider"]) == 0


def test_what_is_unwell_is_named(world: worlds.World) -> None:
    """Nodes that are down, groups that start nothing."""
    models.Node.objects.filter(pk=world.node.pk).update(state="down")
    model_factories.a_policy_version(world.group, starting=False)
    viewer = world.people["viewer"]

    assert [node.name for node in overview.unwell_nodes(viewer)] == ["gpu-1"]
    assert [group.slug for group in overview.stopped_groups(viewer)] == ["gpu"]


def test_an_installation_without_nodes_or_queues_is_empty(db: None) -> None:
    """Its administrator goes to the first steps."""
    assert overview.is_empty()
    group = model_factories.a_group()
    model_factories.a_node(group=group)
    assert overview.is_empty()
    model_factories.a_queue(groups=[group])
    assert not overview.is_empty()
