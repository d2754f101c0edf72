"""
Nodes rebuilt from recorded workloads: the fewest victims beside the rules of three schedulers.

Reads ``openb_pods.csv``, ``openb_nodes.csv`` (Alibaba 2023) and ``metacentrum_wagap_2013.csv`` from a directory. No
trace has priorities as numbers: openb by QoS (LS, Guaranteed 50; Burstable 20; BE 10), MetaCentrum by queue (the
shorter the wall time, the higher).
"""

from __future__ import annotations

import csv
import pathlib
import random
from collections.abc import Iterator, Sequence

from bench import figures, instances, peers, selection
from scheduler.core.preemption import policy

QOS = {"LS": 50, "Guaranteed": 50, "Burstable": 20, "BE": 10}
QUEUES = {"q_2h": 50, "q_4h": 45, "q_1d": 35, "q_2d": 30, "q_4d": 25, "q_1w": 20, "q_2w": 15, "backfill": 5}
Job = tuple[int, tuple[int, ...]]  #: priority, amounts

#: The larger MetaCentrum cluster: 80 cores and 505 GiB a node.
METACENTRUM_NODE = (80, 505 * 2**30)


def report(directory: pathlib.Path, *, seeds: int) -> str:
    """Return the table of decisions on rebuilt nodes."""
    rows = []
    jobs = _metacentrum(directory / "metacentrum_wagap_2013.csv")
    for nodes in (1, 3, 20, 200):
        problems = _decisions(
            jobs, [METACENTRUM_NODE] * nodes, count=160 * seeds, name=f"metacentrum {nodes}"
        )
        rows.append(_row(f"MetaCentrum, {nodes} nodes", problems))
    fleet = _openb_nodes(directory / "openb_nodes.csv")
    pods = _openb_pods(directory / "openb_pods.csv")
    rows.append(_row(f"openb, {len(fleet)} nodes", _decisions(pods, fleet, count=113 * seeds, name="openb")))
    rules = [f"{name}: {what}" for name in peers.RULES for what in ("more victims", "worse in")]
    head = [
        "nodes",
        "decisions",
        "median ms",
        "worst ms",
        "fewest proved",
        "best proved",
        "fewest, mean",
        *rules,
    ]
    return "### Nodes rebuilt from traces\n\n" + figures.table(head, rows)


def _row(name: str, problems: Iterator[policy.Problem]) -> list[object]:
    runs = [selection.measure(problem) for problem in problems]
    if not runs:
        return [name, 0, *["-"] * (5 + 2 * len(peers.RULES))]
    times = [run.own_ms for run in runs]
    fewest = figures.mean([run.own[0] for run in runs])
    shown = [name, len(runs), figures.median(times), max(times), *selection.proved(runs), fewest]
    return [*shown, *selection.above(runs)]


def _metacentrum(path: pathlib.Path) -> list[Job]:
    with path.open(newline="") as file:
        return [
            (QUEUES[row["queue"]], (int(row["cpus"]), max(1, int(row["requested_mem_bytes"]))))
            for row in csv.DictReader(file)
            if row["queue"] in QUEUES and int(row["cpus"]) <= METACENTRUM_NODE[0]
        ]


def _openb_nodes(path: pathlib.Path) -> list[tuple[int, ...]]:
    with path.open(newline="") as file:
        return [
            (int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]) * 1000)
            for row in csv.DictReader(file)
        ]


def _openb_pods(path: pathlib.Path) -> list[Job]:
    with path.open(newline="") as file:
        return [
            (
                QOS.get(row["qos"], 10),
                (
                    int(row["cpu_milli"]),
                    int(row["memory_mib"]),
                    int(row["num_gpu"]) * int(row["gpu_milli"] or 0),
                ),
            )
            for row in csv.DictReader(file)
        ]


def _decisions(
    jobs: Sequence[Job], fleet: Sequence[tuple[int, ...]], *, count: int, name: str
) -> Iterator[policy.Problem]:
    """Fill the fleet in the order of the trace from random starts; each job that finds no room asks for victims."""
    chance = random.Random(name)
    found = tries = 0
    while found < count and tries < 20 * count:
        tries += 1
        full = _filled(jobs, fleet, begin=chance.randrange(len(jobs)))
        for priority, amounts in (chance.choice(jobs) for _ in range(max(1, count // 40))):
            problem = _problem(fleet, full, priority, amounts)
            if problem is not None and found < count:
                found += 1
                yield problem


def _filled(jobs: Sequence[Job], fleet: Sequence[tuple[int, ...]], *, begin: int) -> list[list[Job]]:
    """Put jobs where they fit first; stop after fifty in a row that fit nowhere or a whole trace."""
    free = [list(size) for size in fleet]
    held: list[list[Job]] = [[] for _ in fleet]
    missed, place = 0, 0
    for step in range(len(jobs)):
        priority, amounts = jobs[(begin + step) % len(jobs)]
        place = _first_fit(free, amounts, place)
        if place < 0:
            missed, place = missed + 1, 0
            if missed > 50:
                break
            continue
        held[place].append((priority, amounts))
        free[place] = [have - asked for have, asked in zip(free[place], amounts, strict=True)]
    return held


def _first_fit(free: list[list[int]], amounts: tuple[int, ...], begin: int) -> int:
    """Return the first node that fits, looked for from the last one used on; -1 for none."""
    for step in range(len(free)):
        place = (begin + step) % len(free)
        if all(have >= asked for have, asked in zip(free[place], amounts, strict=True)):
            return place
    return -1


def _problem(
    fleet: Sequence[tuple[int, ...]], full: list[list[Job]], priority: int, amounts: tuple[int, ...]
) -> policy.Problem | None:
    """Return the problem of one job on the full fleet; None when it fits, or when nobody is low enough."""
    targets = []
    for number, (size, held) in enumerate(zip(fleet, full, strict=True), start=1):
        free = [most - sum(job[1][kind] for job in held) for kind, most in enumerate(size)]
        short = [max(0, asked - have) for asked, have in zip(amounts, free, strict=True)]
        if not any(short):
            return None
        kinds = [kind for kind, amount in enumerate(short) if amount]
        own = _candidates(held, priority, kinds, [short[kind] for kind in kinds], first_id=number * 10_000)
        if own:
            targets.append(
                policy.Target(number, f"n{number:05d}", number, tuple(short[k] for k in kinds), own)
            )
    problem = instances.problem(targets)
    return problem if targets and instances.can_be_solved(problem) else None


def _candidates(
    held: Sequence[Job], priority: int, kinds: Sequence[int], need: Sequence[int], *, first_id: int
) -> tuple[policy.Candidate, ...]:
    return tuple(
        policy.Candidate(
            session_id=first_id + place,
            value=value,
            gives=gives,
            start=place,
            share=0,
            total_share=sum(amounts),
        )
        for place, (value, amounts) in enumerate(held)
        if value < priority
        and any(gives := tuple(min(amounts[k], n) for k, n in zip(kinds, need, strict=True)))
    )
