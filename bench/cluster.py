"""One decision over a whole cluster, the building of its problem included; another one of its kind; a whole round."""

from __future__ import annotations

import dataclasses
import random

from bench import figures, peers
from scheduler import garbage
from scheduler.core import context, decisions, entities, resources, rounds, snapshot, states
from scheduler.core.preemption import planning, rosters, shipped

SIZES = ((1, 10), (10, 10), (100, 10), (1000, 10), (1000, 30), (1000, 50), (100, 100))
KINDS = ("cpu", "mem", "disk", "net", "cuda.device")
#: Ids of pending sessions begin here.
FIRST_PENDING = 10_000_000


def report(*, seeds: int) -> str:
    """Return the table of cluster decisions."""
    rows = []
    for nodes, count in SIZES:
        runs = []
        for seed in range(1, seeds + 1):
            view = crowded(nodes, count, seed=seed, pending=2)
            with garbage.left_alone():  # as in a round of the service
                runs.append(measure(view))
        runs = [run for run in runs if run.victims]
        shape = f"{nodes} x {count} x {len(KINDS)}"
        if not runs:
            rows.append([shape, 0, *["-"] * 7])
            continue
        first, again = ([getattr(run, name) for run in runs] for name in ("first_ms", "again_ms"))
        found = [figures.median(first), figures.quantile(first, 0.95), figures.median(again)]
        fewest, best = (
            sum(getattr(run, name) for run in runs) / len(runs) for name in ("is_fewest", "is_best")
        )
        more = [run.kube - run.victims for run in runs]
        whole = figures.median([run.round_ms for run in runs])
        rows.append([shape, len(runs), *found, f"{fewest:.0%}", f"{best:.0%}", figures.mean(more), whole])
    head = [
        "nodes x running x kinds",
        "runs",
        "decision median ms",
        "p95 ms",
        "second of its kind ms",
        "fewest proved",
        "best proved",
        "kube: more victims",
        "whole round ms",
    ]
    return f"### One decision over a cluster (seeds 1 to {seeds})\n\n" + figures.table(head, rows)


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """What one cluster took."""

    first_ms: float  #: the decision, its problem built from the round's state and its answer checked included
    again_ms: float  #: the same for a second session of its kind, after something changed on one node
    round_ms: float  #: a round of both, everything included
    victims: int
    kube: int
    is_fewest: bool
    is_best: bool


def measure(view: snapshot.Snapshot) -> Run:
    """Decide for the first pending session of a group, and for the second."""
    ctx = context.Context(view)
    first, second = sorted((s for s in view.sessions if s.id >= FIRST_PENDING), key=lambda s: s.id)
    rosters.of(ctx)  # once in a round, however many preemptors it has
    plan, first_ms = figures.timed(lambda: planning.plan(ctx, first, shipped.FOR_QUEUES))
    choice = peers.kube_scheduler(planning.problem_of(ctx, plan.judged[-1])) if plan.victims else None
    planning.carry_out(ctx, first, plan)
    _, again_ms = figures.timed(lambda: planning.plan(ctx, second, shipped.FOR_QUEUES))
    found: list[decisions.Decision] = []
    _, round_ms = figures.timed(lambda: rounds.run_round(view, found.append))
    is_best = plan.proof is not None and plan.proof.is_best
    kube = choice.count if choice is not None else 0
    return Run(first_ms, again_ms, round_ms, len(plan.victims), kube, plan.is_fewest, is_best)


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
            FIRST_PENDING + number,
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
