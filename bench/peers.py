"""
Our own models of the rules by which kube-scheduler, Kueue and Slurm choose victims.

Written from their documentation and from what a real Slurm was seen to do; none of their code is here. They get the
same problem as the exact search: legal candidates, what each gives, what is short.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from scheduler.core.preemption import greedy, policy

Victims = tuple[policy.Candidate, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """A peer's answer: a node and whom it would stop there."""

    node: str
    victims: Victims

    @property
    def count(self) -> int:
        """Return how many sessions it stops."""
        return len(self.victims)

    @property
    def value(self) -> int:
        """Return the summed priority of those."""
        return sum(victim.value for victim in self.victims)


def kube_scheduler(problem: policy.Problem) -> Choice | None:
    """
    Remove all on each node, reprieve the highest first; the node whose highest victim is lowest wins.

    Nodes: highest victim priority, then summed priority, then number of victims, then latest start.
    """
    found = _on_each(problem, greedy.all_then_reprieve)

    def key(one: Choice) -> tuple[int, int, int, str]:
        return max(victim.value for victim in one.victims), one.value, one.count, one.node

    return min(found, key=key, default=None)


def kueue(problem: policy.Problem) -> Choice | None:
    """Take in order until it fits, then fill back in reverse; of all nodes the best answer, which is generous to it."""
    found = _on_each(problem, greedy.in_order_then_back)
    return min(found, key=lambda one: (one.count, one.value, one.node), default=None)


def slurm(problem: policy.Problem) -> Choice | None:
    """
    Take lowest priority and smallest first until it fits; then once more with the last one taken put first.

    Seen on Slurm 22.05: jobs of 1, 1, 2, 4, 8 cpus and a need of 8 stop four; 5, 5, 3, 2, 1 and a need of 6 stop three.
    """
    found = _on_each(problem, _slurm_on)
    return min(found, key=lambda one: (one.count, one.value, one.node), default=None)


def _slurm_on(target: policy.Target) -> Victims | None:
    order = sorted(target.candidates, key=lambda c: (c.value, sum(c.gives), c.session_id))
    taken = _until_it_fits(target.need, order)
    if taken is None:
        return None
    last = taken[-1]
    return _until_it_fits(target.need, [last, *(c for c in order if c is not last)])


def _until_it_fits(need: Sequence[int], order: Sequence[policy.Candidate]) -> Victims | None:
    rest, taken = list(need), []
    for candidate in order:
        taken.append(candidate)
        rest = [r - g for r, g in zip(rest, candidate.gives, strict=True)]
        if max(rest) <= 0:
            return tuple(taken)
    return None


def _on_each(problem: policy.Problem, rule: Callable[[policy.Target], Victims | None]) -> list[Choice]:
    answers = ((target, rule(target)) for target in problem.targets)
    return [Choice(target.name, victims) for target, victims in answers if victims is not None]


RULES: dict[str, Callable[[policy.Problem], Choice | None]] = {
    "kube-scheduler": kube_scheduler,
    "Kueue": kueue,
    "Slurm": slurm,
}
