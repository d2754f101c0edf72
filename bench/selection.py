"""One node: the exact search beside CP-SAT and beside the rules of three schedulers, by family and size."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench import figures, instances, peers
from scheduler.core.preemption import lowest_priority_first, policy

if TYPE_CHECKING:
    from bench import cp_sat

SIZES = (
    *((10, kinds) for kinds in (1, 3)),
    *((50, kinds) for kinds in (2, 3, 5)),
    *((200, kinds) for kinds in (1, 3, 4, 5)),
    (1000, 5),
    (2000, 3),
)
#: The solver needs seconds beyond this size.
SOLVED_UP_TO = 200
#: What the solver gets for each stage, seconds.
LIMIT_S = 2.0


@dataclasses.dataclass
class Run:
    """What one instance took and gave."""

    own_ms: float
    own: tuple[int, int]  #: victims, summed priority
    is_proved: bool
    is_fewest: bool  #: no fewer would do, proved
    solver_ms: float | None = None
    solver: cp_sat.Solution | None = None
    stages_ms: float | None = None
    peers: dict[str, int] = dataclasses.field(default_factory=dict)  #: victims above the exact answer


def report(*, seeds: int, solver: bool) -> str:
    """Return the tables of one node: times beside CP-SAT, victims beside the rules."""
    times, counts = [], []
    for family in instances.FAMILIES:
        for count, kinds in SIZES:
            runs = _runs(family, count, kinds, seeds=seeds, solver=solver)
            if runs:
                times.append([family, count, kinds, len(runs), *_times(runs)])
                counts.append(
                    [family, count, kinds, figures.mean([run.own[0] for run in runs]), *above(runs)]
                )
    head = ["family", "candidates", "kinds", "runs", "median ms", "p99 ms", "fewest proved", "best proved"]
    solved = ["CP-SAT 1 stage ms", "2 stages ms", "times faster", "differ"]
    rules = [f"{name}: {what}" for name in peers.RULES for what in ("more victims", "worse in")]
    return "\n\n".join(
        [
            f"### One node (seeds 1 to {seeds}; CP-SAT at most {LIMIT_S:g} s a stage)",
            figures.table(head + solved, times),
            "### Victims above the exact answer, mean and share of instances",
            figures.table(["family", "candidates", "kinds", "exact", *rules], counts),
        ]
    )


def _runs(family: str, count: int, kinds: int, *, seeds: int, solver: bool) -> list[Run]:
    """Solve all instances of one row, all by one way before the next, as each finds the machine after itself."""
    problems = [instances.one_node(family, count, kinds, seed=seed) for seed in range(1, seeds + 1)]
    problems = [problem for problem in problems if instances.can_be_solved(problem)]
    runs = [measure(problem) for problem in problems]
    if solver and count <= SOLVED_UP_TO:
        for run, problem in zip(runs, problems, strict=True):
            _solve(run, problem)
    return runs


def measure(problem: policy.Problem) -> Run:
    """Solve one problem by the exact search and by the rules."""
    answer, own_ms = figures.timed(lambda: lowest_priority_first.select_victims(problem))
    assert answer is not None
    values = {c.session_id: c.value for target in problem.targets for c in target.candidates}
    own = (len(answer.victim_ids), sum(values[i] for i in answer.victim_ids))
    run = Run(own_ms, own, answer.is_proved, answer.is_fewest)
    for name, rule in peers.RULES.items():
        choice = rule(problem)
        if choice is not None:
            run.peers[name] = choice.count - own[0]
    return run


def _solve(run: Run, problem: policy.Problem) -> None:
    from bench import cp_sat  # a requirement of its own, which tests do without

    run.solver, run.solver_ms = figures.timed(lambda: cp_sat.one_stage(problem, limit_s=LIMIT_S))
    _, run.stages_ms = figures.timed(lambda: cp_sat.two_stages(problem, limit_s=LIMIT_S))


def _times(runs: Sequence[Run]) -> list[object]:
    own = [run.own_ms for run in runs]
    found: list[object] = [figures.median(own), figures.quantile(own, 0.99), *proved(runs)]
    solved = [run for run in runs if run.solver_ms is not None]
    solver = figures.median([run.solver_ms for run in solved if run.solver_ms is not None])
    stages = figures.median([run.stages_ms for run in solved if run.stages_ms is not None])
    differ = sum(_differs(run) for run in solved)
    return [*found, solver, stages, solver / figures.median(own), differ if solved else "-"]


def proved(runs: Sequence[Run]) -> list[object]:
    """Return the share of instances where the number is proved, and where nothing better of that number exists."""
    shares = (sum(run.is_fewest for run in runs), sum(run.is_proved for run in runs))
    return [f"{share / len(runs):.1%}" for share in shares]


def _differs(run: Run) -> bool:
    """Say whether both are proved and yet not equal."""
    if run.solver is None or not run.is_proved or not run.solver.is_proved:
        return False
    return (run.solver.count, run.solver.value) != run.own


def above(runs: Sequence[Run]) -> list[object]:
    """Return per rule the mean of victims above the exact answer, and the share of instances with more."""
    found: list[object] = []
    for name in peers.RULES:
        more = [run.peers[name] for run in runs if name in run.peers]
        found += [figures.mean(more), f"{sum(extra > 0 for extra in more) / len(more):.0%}" if more else "-"]
    return found
