"""What the demo cluster consists of, as data: groups with nodes, queues, people with their caps and roles."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

GIB = 1 << 30


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """One resource group, its rules where they differ from the defaults, and equal nodes."""

    slug: str
    description: str
    rules: Mapping[str, object]
    nodes: tuple[str, ...]
    capacity: Mapping[str, int]  #: of each node, in the smallest units


@dataclasses.dataclass(frozen=True, slots=True)
class Queue:
    """One queue; it serves every group of the demo."""

    slug: str
    description: str
    default_priority: int
    preempts: tuple[str, ...] = ()  #: slugs of queues that come earlier in the list
    preemptible: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Person:
    """One user, with the name and the cap of their resource policy and a role in each group."""

    username: str
    policy: str
    max_priority: int
    roles: Mapping[str, str]
    note: str  #: what to try as this person; printed beside the log-in
    is_administrator: bool = False


GROUPS = (
    Group(
        slug="gpu",
        description="GPU nodes: a preempted session is suspended and goes on later",
        rules={"preemption_mode": "suspend"},
        nodes=("gpu-1", "gpu-2"),
        capacity={"cpu": 16_000, "mem": 64 * GIB, "cuda.device": 4},
    ),
    Group(
        slug="batch",
        description="CPU nodes: a preempted session goes back to its queue and starts anew",
        rules={"preemption_mode": "reschedule"},
        nodes=("batch-1", "batch-2"),
        capacity={"cpu": 8_000, "mem": 32 * GIB},
    ),
)

QUEUES = (
    Queue("background", "Whatever is left; may be stopped by urgent", default_priority=5, preemptible=True),
    Queue("normal", "The ordinary queue: neither stops others nor is stopped by them", default_priority=10),
    Queue("urgent", "May stop sessions of background", default_priority=20, preempts=("background",)),
)

PEOPLE = (
    Person(
        username="admin",
        policy="default",
        max_priority=100,
        roles={},
        note="switches preemption on a group's policy page",
        is_administrator=True,
    ),
    Person(
        username="alice",
        policy="research",
        max_priority=80,
        roles={"gpu": "submitter", "batch": "submitter"},
        note="submits to gpu and batch, priority up to 80",
    ),
    Person(
        username="bob",
        policy="standard",
        max_priority=40,
        roles={"gpu": "submitter", "batch": "submitter"},
        note="submits to gpu and batch, priority up to 40",
    ),
    Person(
        username="carol",
        policy="student",
        max_priority=20,
        roles={"batch": "submitter", "gpu": "viewer"},
        note="submits to batch, looks at gpu, priority up to 20",
    ),
)
