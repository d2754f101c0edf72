"""The same question put to OR-Tools CP-SAT: fewest victims, then least summed priority; in one stage or in two."""

from __future__ import annotations

import dataclasses
import math

from ortools.sat.python import cp_model

from scheduler.core.preemption import policy


@dataclasses.dataclass(frozen=True, slots=True)
class Solution:
    """What the solver found."""

    count: int
    value: int
    is_proved: bool


def one_stage(problem: policy.Problem, *, limit_s: float = 5.0, effort: float = math.inf) -> Solution | None:
    """
    Minimise count and summed priority as one weighted sum.

    Args:
        problem: what is asked.
        limit_s: seconds after which the solver gives what it has.
        effort: the same in the solver's own measure of work, which no busy machine changes; about a second each.
    """
    model, picks = _model(problem)
    most = 1 + sum(candidate.value for candidate, _ in picks)
    model.minimize(sum((most + candidate.value) * pick for candidate, pick in picks))
    return _solve(model, picks, limit_s, effort)


def two_stages(problem: policy.Problem, *, limit_s: float = 5.0) -> Solution | None:
    """Minimise the count, fix it, then minimise the summed priority."""
    model, picks = _model(problem)
    model.minimize(sum(pick for _, pick in picks))
    first = _solve(model, picks, limit_s)
    if first is None:
        return None
    model, picks = _model(problem)
    model.add(sum(pick for _, pick in picks) == first.count)
    model.minimize(sum(candidate.value * pick for candidate, pick in picks))
    second = _solve(model, picks, limit_s)
    return (
        None
        if second is None
        else dataclasses.replace(second, is_proved=first.is_proved and second.is_proved)
    )


Picks = list[tuple[policy.Candidate, cp_model.IntVar]]


def _model(problem: policy.Problem) -> tuple[cp_model.CpModel, Picks]:
    model = cp_model.CpModel()
    picks: Picks = []
    nodes = []
    for target in problem.targets:
        here = model.new_bool_var(target.name)
        nodes.append(here)
        own = [(c, model.new_bool_var(f"s{c.session_id}")) for c in target.candidates]
        for kind, amount in enumerate(target.need):
            model.add(sum(c.gives[kind] * pick for c, pick in own) >= amount * here)
        picks += own
    model.add_exactly_one(nodes)
    return model, picks


def _solve(
    model: cp_model.CpModel, picks: Picks, limit_s: float, effort: float = math.inf
) -> Solution | None:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit_s
    solver.parameters.max_deterministic_time = effort
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    taken = [candidate for candidate, pick in picks if solver.value(pick)]
    return Solution(len(taken), sum(c.value for c in taken), status == cp_model.OPTIMAL)
