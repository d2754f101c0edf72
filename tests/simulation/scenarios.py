"""Worlds made to go wrong: a crowded node or two, queues that may take from each other, victims that return at once."""

from __future__ import annotations

import collections
import random

from scheduler.core import entities, resources, states
from tests.simulation import world as worlds

#: Sessions end within so many seconds of run time.
LONGEST_S = 40
#: In each round somebody submits, and somebody with room kept for it goes, with these chances.
ARRIVES, LEAVES = 0.07, 0.02
#: The same for one on whose stops somebody else counts too, while they can be undone.
FOLLOWED_LEAVES = 0.5
#: While more than so many wait, one of them gives up in each round.
PATIENT = 8


def adversarial(seed: int, **rules: object) -> worlds.World:
    """
    Return an empty world from a seed: two owners, three queues, both axes; every queue may take from every other one.

    Args:
        seed: same seed, same world and same chance.
        rules: fields of the policy that are not random.
    """
    chance = random.Random(seed)
    nodes = tuple(
        entities.Node(number, f"n{number}", resources.ResourceVector({"cpu": chance.randint(1, 6), "mem": 8}))
        for number in range(1, chance.randint(1, 2) + 1)
    )
    everyone = frozenset({1, 2, 3})
    queues = tuple(
        entities.Queue(
            number,
            f"q{number}",
            preemptible=True,
            preemptible_queues=everyone - {number},
            preemption_mode=chance.choice((None, *entities.PreemptionMode)),
        )
        for number in everyone
    )
    fields: dict[str, object] = {
        "version": 1,
        "state": entities.PreemptionState.ON,
        "mode": chance.choice(tuple(entities.PreemptionMode)),
        "order": chance.choice(tuple(entities.PreemptionOrder)),
        "grace_s": chance.choice((0, 2, 5, 15)),
        "suspend_grace_s": chance.choice((0, 2, 8)),
        "suspend_releases": chance.choice((None, None, frozenset({"cpu"}))),
        "requeue_suspended": chance.random() < 0.3,
        "cancel_unconfirmed_dispatch": chance.random() < 0.5,
        "starvation_after_s": 60,
    }
    return worlds.World(nodes, queues, entities.Policy(**(fields | rules)), seed=seed)  # type: ignore[arg-type]


def a_submission(world: worlds.World) -> int:
    """Submit one session that fits on some node and whose ranks often equal those of others."""
    chance = world.chance
    most = max(node.capacity.get("cpu") for node in world.nodes)
    slots = {"cpu": chance.choice((1, 1, most, chance.randint(1, most))), "mem": chance.randint(0, 4)}
    work_s = chance.randint(2, LONGEST_S)
    return world.submit(
        work_s,
        wall_limit_s=work_s + 5 if chance.random() < 0.5 else None,
        owner_id=chance.randint(1, 2),
        queue_id=chance.randint(1, 3),
        request=resources.ResourceVector({kind: amount for kind, amount in slots.items() if amount}),
        priority=chance.choice((10, 10, 10, 50, 90)),
        job_priority=chance.choice((0, 10, 10, 11)),
    )


def something(world: worlds.World) -> None:
    """Submit, cancel or edit in some rounds; whoever has room kept for it is the likeliest to be met."""
    chance = world.chance
    if chance.random() < ARRIVES:
        a_submission(world)
    followed = _followed(world)
    held = sorted(kept.holder for kept in world.kept.values())
    if followed and chance.random() < FOLLOWED_LEAVES:
        world.cancel(chance.choice(followed))
    elif held and chance.random() < LEAVES:
        world.cancel(chance.choice(held))
    elif chance.random() < LEAVES / 3:
        something_else(world)
    line = [job.session.id for job in world.jobs.values() if job.session.state is states.SessionState.PENDING]
    if len(line) > PATIENT:
        world.cancel(chance.choice(line))


def _followed(world: worlds.World) -> list[int]:
    """Return the preemptors for whom nothing is lost yet and on whose stops other reservations count."""
    counts = collections.Counter(victim for kept in world.kept.values() for victim in kept.waits_for)
    return sorted(
        kept.holder
        for kept in world.kept.values()
        if any(counts[victim] > 1 for victim in world.told[kept.decision].orders)
        and not world.told[kept.decision].has_begun_to_kill(world.now)
    )


def something_else(world: worlds.World) -> None:
    """Cancel or edit a random session."""
    chance = world.chance
    if not world.jobs:
        return
    one = chance.choice(sorted(world.jobs))
    if chance.random() < 0.5:
        world.cancel(one)
    else:
        world.edit(one, priority=chance.choice((10, 50)), job_priority=chance.choice((0, 10, 11)))
