"""A question larger than a pipe holds, and a policy that does not read it."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core.preemption import policy
from scheduler.plugins import pool


def _large(problem):
    (target,) = problem.targets
    many = tuple(dataclasses.replace(target.candidates[0], session_id=i) for i in range(2_000))
    return dataclasses.replace(problem, targets=(dataclasses.replace(target, candidates=many),))


def test_a_question_larger_than_a_pipe_is_asked_whole(a_policy, workers, problem):
    found = a_policy("return 7, [one.session_id for one in problem.targets[0].candidates]")

    answer = workers.ask(found, _large(problem), pool.Budget(workers.limits))

    assert answer == policy.Answer(7, tuple(range(2_000)))


def test_a_worker_that_stopped_reading_is_given_up(a_policy, workers, problem):
    found = a_policy("os.kill(os.getpid(), 19)\nreturn 7, [1]")

    with pytest.raises(policy.PolicyFailed, match=r"did not answer within 0\.5 s"):
        workers.ask(found, _large(problem), pool.Budget(workers.limits))
