"""What nodes hold: every part counted once, devices one by one."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.selectors import capacity, slot_kinds
from tests import model_factories, worlds


def use_of(world: worlds.World, who: str = "viewer") -> capacity.NodeUse:
    """Return the use of the world's node."""
    nodes = models.Node.objects.filter(pk=world.node.pk)
    return capacity.of_nodes(nodes, viewer=world.people[who])[0]


def a_session(world: worlds.World, state: str, **fields: object) -> models.Session:
    """Make a session with one GPU on the world's node."""
    return model_factories.a_session(
        owner=world.people["submitter"],
        queue=world.queues["background"],
        group=world.group,
        state=state,
        slots=model_factories.ONE_GPU,
        **fields,
    )


def test_the_parts_add_up_to_the_capacity(world: worlds.World) -> None:
    """Held, being released, reserved, free."""
    a_session(world, "running")
    a_session(world, "terminating")
    world.node.slots.filter(kind="cuda.device").update(reserved=1)

    use = use_of(world).slots["cuda.device"]

    assert use.parts() == {"allocated": 1, "releasing": 1, "reserved": 1, "free": 1, "drained": 0}
    assert sum(use.parts().values()) == use.capacity == 4


def test_devices_show_who_holds_them(world: worlds.World) -> None:
    """One's own are marked."""
    a_session(world, "running")
    a_session(world, "terminating")

    assert use_of(world, "viewer").cells["cuda.device"] == ["allocated", "releasing", "free", "free"]
    assert use_of(world, "submitter").cells["cuda.device"] == ["you", "releasing", "free", "free"]


def test_a_suspend_releases_only_its_kinds(world: worlds.World) -> None:
    """What the group leaves out stays held."""
    a_session(world, "preempted", stop_goal="suspend", stop_releases=["cpu"])

    slots = use_of(world).slots

    assert (slots["cpu"].releasing, slots["cuda.device"].releasing) == (2_000, 0)


@pytest.mark.parametrize("state", ["draining", "down", "suspect"])
def test_a_node_that_is_not_ready_has_nothing_free(world: worlds.World, state: str) -> None:
    """What nobody holds counts as drained."""
    models.Node.objects.filter(pk=world.node.pk).update(state=state)

    use = use_of(world)

    assert (use.slots["cuda.device"].free, use.slots["cuda.device"].drained) == (0, 4)
    assert use.cells["cuda.device"] == ["drained"] * 4


def test_kinds_are_summed_over_nodes(world: worlds.World) -> None:
    """The most on one node tells fragmentation."""
    model_factories.a_node("gpu-2", group=world.group, capacity={"cuda.device": 2, "tokens": 7})
    uses = capacity.of_nodes(models.Node.objects.filter(group=world.group), viewer=world.people["viewer"])

    found = {row.name: row for row in capacity.by_kind(uses)}

    assert (found["cuda.device"].total.free, found["cuda.device"].most) == (6, 4)
    assert found["tokens"].total.capacity == 7
    assert [cell["name"] for cell in found["cuda.device"].cells] == ["gpu-1", "gpu-2"]


def test_kinds_know_their_units(world: worlds.World) -> None:
    """Declared ones by their row; others count whole units."""
    models.SlotKind.objects.create(name="gpu_milli", scale=1000, unit="GPU thousandths")
    known = slot_kinds.load()

    assert list(known)[:3] == ["cuda.device", "cpu", "mem"]
    assert str(known["gpu_milli"]) == "gpu_milli"
    assert known["gpu_milli"].scale == 1000
    assert slot_kinds.of("gone", known).scale == 1
    assert {str(kind): n for kind, n in slot_kinds.amounts({"cpu": 5}, known).items()} == {"cpu": 5}
