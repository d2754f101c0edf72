"""
The workers of this process: one for each foreign policy, kept from round to round, ended after any failure.

A worker whose package changed is replaced. Threads take turns; a fork of this process begins without workers. A policy
that lets its time pass again and again rests: it is not asked for a while, so that it cannot slow every round down.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import os
import threading
from collections.abc import Iterator

from scheduler.core.preemption import policy
from scheduler.plugins import catalog, process


class Budget:
    """The seconds that the foreign policies of one round may still take, all together."""

    def __init__(self, limits: process.Limits) -> None:
        self._limits = limits
        self._left_s = limits.round_s

    def take(self, most_s: float) -> float:
        """
        Return how many seconds one step may take, ``most_s`` at most.

        Raises:
            PolicyFailed: nothing is left.
        """
        if self._left_s <= 0:
            raise policy.PolicyFailed(
                f"was not asked: the {self._limits.round_s:g} s for policies in one round are used up"
            )
        return min(most_s, self._left_s)

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """Count the time within as taken."""
        begun = self._limits.clock()
        try:
            yield
        finally:
            self._left_s -= self._limits.clock() - begun


@dataclasses.dataclass(slots=True)
class Lateness:
    """How often in a row one version of a policy let its time pass, and until when it rests for that."""

    found: catalog.Found
    times: int = 0
    until: float = 0.0


class Pool:
    """Foreign policies' processes by the policy's name."""

    def __init__(self, limits: process.Limits | None = None) -> None:
        self.limits = limits or process.Limits()
        self._workers: dict[str, process.Process] = {}
        self._turns: dict[str, threading.Lock] = {}
        self._late: dict[str, Lateness] = {}

    def ask(self, found: catalog.Found, problem: policy.Problem, budget: Budget) -> policy.Answer | None:
        """
        Return the policy's answer; start its process where there is none.

        Raises:
            PolicyFailed: it did not answer as it should, and its process has been ended; or it rests.
        """
        with self._turn(found.name, budget):
            late = self._lateness(found)
            if self.limits.clock() < late.until:
                raise policy.PolicyFailed(self._rests())
            try:
                answer = self._ask(found, problem, budget)
            except process.TooLate as error:
                self._end(found.name)
                late.times += 1
                if late.times < self.limits.times_late:
                    raise
                late.until = self.limits.clock() + self.limits.rest_s
                raise policy.PolicyFailed(self._rests()) from error
            except BaseException:
                self._end(found.name)
                raise
            late.times = 0
            return answer

    def _ask(self, found: catalog.Found, problem: policy.Problem, budget: Budget) -> policy.Answer | None:
        worker = self._worker(found, budget)
        with budget.spent():
            return worker.ask(problem, within_s=budget.take(self.limits.answer_s))

    def _lateness(self, found: catalog.Found) -> Lateness:
        known = self._late.get(found.name)
        if known is None or known.found != found:
            known = self._late[found.name] = Lateness(found)
        return known

    def _rests(self) -> str:
        return (
            f"is suspended, and asked once every {self.limits.rest_s:g} s: "
            f"it did not answer in time, {self.limits.times_late} times in a row or more"
        )

    @contextlib.contextmanager
    def _turn(self, name: str, budget: Budget) -> Iterator[None]:
        lock = self._turns.setdefault(name, threading.Lock())
        with budget.spent():
            is_ours = lock.acquire(timeout=budget.take(self.limits.answer_s))
        if not is_ours:
            raise policy.PolicyFailed("was busy with another question for too long")
        try:
            yield
        finally:
            lock.release()

    def _worker(self, found: catalog.Found, budget: Budget) -> process.Process:
        worker = self._workers.get(found.name)
        if worker is not None and worker.found != found:
            self._end(found.name)
            worker = None
        if worker is None:
            with budget.spent():
                worker = self._workers[found.name] = process.Process(found, self.limits)
                worker.start(within_s=budget.take(self.limits.start_s))
        return worker

    def _end(self, name: str) -> None:
        worker = self._workers.pop(name, None)
        if worker is not None:
            worker.kill()

    def pids(self) -> dict[str, int]:
        """Return the process ids of the living workers, by policy."""
        return {name: worker.pid for name, worker in self._workers.items()}

    def close(self) -> None:
        """End all workers."""
        for name in list(self._workers):
            self._end(name)

    def disown(self) -> None:
        """In a forked child: forget the parent's workers, and whoever was waiting for them."""
        for worker in self._workers.values():
            worker.disown()
        self._workers, self._turns = {}, {}


#: What this process uses; its workers end with it.
SHARED = Pool()
atexit.register(SHARED.close)
os.register_at_fork(after_in_child=SHARED.disown)
