"""A group in which a trace can run: the kinds that it asks for, three queues, and nodes large enough."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from scheduler import errors, models
from scheduler.core import entities
from scheduler.services import actors, nodes, queues, setup

GPU_MILLI = "gpu_milli"
CAPACITY = {"cpu": 64_000, "mem": 256 << 30, GPU_MILLI: 8_000}
REASON = "room for a trace"
#: queue -> (default priority, what it may preempt)
QUEUES = {"background": (5, ()), "normal": (10, ()), "urgent": (20, ("background",))}


@dataclasses.dataclass(frozen=True, slots=True)
class Room:
    """What is wanted."""

    slug: str  #: of the group; nodes and queues are named after it
    nodes: int = 2
    preemption: entities.PreemptionState = entities.PreemptionState.OFF


def make(actor: actors.Actor, room: Room, *, say: Callable[[str], None]) -> list[models.Node]:
    """
    Make the group with its queues and nodes. What is there already stays as it is, so a run can be repeated.

    Returns:
        The group's nodes. Their agents are yours to start.
    """
    _kind(actor, say)
    group = models.ResourceGroup.objects.filter(slug=room.slug).first() or _group(actor, room, say)
    for name, (priority, preempts) in QUEUES.items():
        _queue(actor, group, name, priority=priority, preempts=preempts)
    for number in range(1, room.nodes + 1):
        _node(actor, group, f"{room.slug}-{number}", say=say)
    return list(group.nodes.all())


def queue_in(group: str, name: str) -> str:
    """Return the group's own queue of this name where it has one, else the queue of this very name."""
    own = f"{group}-{name}"
    return own if models.Queue.objects.filter(slug=own, groups__slug=group).exists() else name


def _kind(actor: actors.Actor, say: Callable[[str], None]) -> None:
    if not models.SlotKind.objects.filter(name=GPU_MILLI).exists():
        setup.create_slot_kind(actor, GPU_MILLI, unit="thousandths of a GPU")
        say(f"slot kind {GPU_MILLI}")


def _group(actor: actors.Actor, room: Room, say: Callable[[str], None]) -> models.ResourceGroup:
    rules = {
        "preemption_mode": entities.PreemptionMode.RESCHEDULE.value,
        "preemption_state": room.preemption.value,
    }
    say(f"group {room.slug}")
    return setup.create_group(actor, room.slug, description="Runs a trace", policy=rules, reason=REASON)


def _queue(
    actor: actors.Actor, group: models.ResourceGroup, name: str, *, priority: int, preempts: tuple[str, ...]
) -> None:
    slug = f"{group.slug}-{name}"
    if models.Queue.objects.filter(slug=slug).exists():
        return
    queues.create_queue(
        actor,
        slug,
        groups=[group],
        default_priority=priority,
        preemptible=name == "background",
        preemptible_queues=[f"{group.slug}-{other}" for other in preempts],
        reason=REASON,
    )


def _node(actor: actors.Actor, group: models.ResourceGroup, name: str, *, say: Callable[[str], None]) -> None:
    if not models.Node.objects.filter(name=name).exists():
        nodes.create_node(actor, name, group, capacity=dict(CAPACITY))
        say(f"node {name}")


def wait_for_agents(slug: str, *, limit_s: float, rest: Callable[[float], None] = time.sleep) -> None:
    """
    Make sure that the group's sessions can start: wait until the agents of all its nodes have reported.

    Args:
        slug: of the group.
        limit_s: seconds to wait at most; after that one agent is enough.
        rest: waits for so many seconds.

    Raises:
        Refusal: there is no such group, or no agent of its nodes has reported in time.
    """
    nodes_there = models.Node.objects.filter(group__slug=slug).count()
    if not models.ResourceGroup.objects.filter(slug=slug).exists():
        raise errors.Refusal(f"there is no group {slug}; make it with --make-group, or name one with --group")
    until = time.monotonic() + limit_s
    while (reported := _reported(slug)) < nodes_there and time.monotonic() < until:
        rest(0.5)
    if not reported:
        raise errors.Refusal(f"no agent of group {slug} has reported in {limit_s} s; start its agents first")


def _reported(slug: str) -> int:
    return models.AgentStatus.objects.filter(node__group__slug=slug, hello_at__isnull=False).count()
