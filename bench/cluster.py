"""One decision over a whole cluster: the search alone, and a round with one preemptor, problem building included."""

from __future__ import annotations

import functools
import random

from bench import figures, instances, peers
from scheduler.core import decisions, entities, resources, rounds, snapshot, states
from scheduler.core.preemption import lowest_priority_first

SIZES = ((1, 10), (10, 10), (100, 10), (1000, 10), (1000, 30), (1000, 50), (100, 100))
KINDS = ("cpu", "mem", "disk", "net", "cuda.device")
SECOND = 1_000_000


def report(*, seeds: int) -> str:
    """Return the table of cluster decisions."""
    rows = []
    for nodes, count in SIZES:
        times, proved, more = [], 0, []
        for seed in range(1, seeds + 1):
            problem = instances.cluster("uniform", nodes, count, 5, seed=seed)
            if not instances.can_be_solved(problem):
                continue
            answer, took = figures.timed(
                lambda problem=problem: lowest_priority_first.select_victims(problem)
            )
            assert answer is not None
            times.append(took)
            proved += answer.is_proved
            choice = peers.kube_scheduler(problem)
            more.append(choice.count - len(answer.victim_ids) if choice else 0)
        views = [crowded(nodes, count, seed=seed) for seed in range(1, 6)]
        whole = [figures.timed(functools.partial(_one_round, view))[1] for view in views]
        rows.append(
            [
                f"{nodes} x {count} x 5",
                len(times),
                figures.median(times),
                figures.quantile(times, 0.95),
                f"{proved / len(times):.0%}" if times else "-",
                figures.mean(more),
                figures.median(whole),
            ]
        )
    head = [
        "nodes x running x kinds",
        "runs",
        "search median ms",
        "p95 ms",
        "proved",
        "kube: more victims",
        "round ms",
    ]
    return f"### One decision over a cluster (seeds 1 to {seeds})\n\n" + figures.table(head, rows)


def _one_round(view: snapshot.Snapshot) -> list[decisions.Decision]:
    found: list[decisions.Decision] = []
    rounds.run_round(view, found.append)
    return found


def crowded(nodes: int, running: int, *, seed: int, pending: int = 1) -> snapshot.Snapshot:
    """Return a full cluster of five kinds, and pending sessions of a queue that may preempt the rest."""
    chance = random.Random(f"{nodes}/{running}/{seed}")
    machines, sessions = [], []
    for number in range(1, nodes + 1):
        own = [[chance.randint(1, 100) for _ in KINDS] for _ in range(running)]
        total = {kind: sum(sizes[k] for sizes in own) for k, kind in enumerate(KINDS)}
        machines.append(entities.Node(number, f"n{number:05d}", resources.ResourceVector(total)))
        sessions += [
            _running(chance, len(sessions) + 1 + place, number, sizes) for place, sizes in enumerate(own)
        ]
    request = {kind: chance.randint(80, 250) for kind in KINDS}
    waiting = [
        entities.Session(
            10_000_000 + number,
            owner_id=2,
            queue_id=1,
            state=states.SessionState.PENDING,
            request=resources.ResourceVector(request),
            submitted_at=number,
            priority=90,
        )
        for number in range(pending)
    ]
    queues = (
        entities.Queue(1, "urgent", preemptible_queues=frozenset({2})),
        entities.Queue(2, "background", preemptible=True),
    )
    return snapshot.Snapshot(
        group="g",
        now=10**10,
        policy=entities.Policy(1, state=entities.PreemptionState.ON),
        is_starting=True,
        nodes=tuple(machines),
        queues=queues,
        owners=(entities.Owner(1), entities.Owner(2)),
        sessions=(*sessions, *waiting),
    )


def _running(chance: random.Random, session_id: int, node_id: int, sizes: list[int]) -> entities.Session:
    slots = resources.ResourceVector(dict(zip(KINDS, sizes, strict=True)))
    return entities.Session(
        session_id,
        owner_id=1,
        queue_id=2,
        state=states.SessionState.RUNNING,
        request=slots,
        submitted_at=session_id,
        priority=chance.choice((0, 10, 20, 30)),
        started_at=session_id,
        allocations=(entities.Allocation(node_id, slots),),
    )
