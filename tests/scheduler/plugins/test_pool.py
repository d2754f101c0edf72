"""Workers are kept, replaced and ended; a round's policies share its seconds."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import time

import pytest

from scheduler.core.preemption import policy
from scheduler.plugins import pool, process


def _ask(workers, found, problem):
    return workers.ask(found, problem, pool.Budget(workers.limits))


def test_a_worker_is_kept_from_question_to_question(a_policy, workers, problem):
    found = a_policy("return 7, [1]")
    _ask(workers, found, problem)
    first = workers.pids()
    _ask(workers, found, problem)

    assert workers.pids() == first


def test_a_worker_that_failed_is_gone_with_all_that_it_started(a_policy, workers, problem, tmp_path):
    mark = tmp_path / "hostile"
    body = (
        f"while os.path.exists({str(mark)!r}):\n    os.getpid() == os.getpgrp() and os.fork()\nreturn 7, [1]"
    )
    found = a_policy(body.replace("os.fork()", "not KIDS and KIDS.append(os.fork())"), before="KIDS = []")
    _ask(workers, found, problem)
    group = workers.pids()["odd"]
    mark.touch()

    with pytest.raises(policy.PolicyFailed, match="did not answer"):
        _ask(workers, found, problem)

    assert workers.pids() == {}
    until = time.monotonic() + 30
    while _living(group) and time.monotonic() < until:
        pass
    assert _living(group) == []


def _living(group):
    """Return the processes of a group that run."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            found += [stat] if int(its_group) == group and state != "Z" else []
    return found


def test_a_new_version_gets_a_new_worker(a_policy, workers, problem):
    found = a_policy("return 7, [1]")
    _ask(workers, found, problem)
    first = workers.pids()
    _ask(workers, dataclasses.replace(found, package="odd_package 2.0"), problem)

    assert workers.pids() != first


def test_a_forked_child_begins_without_workers(a_policy, workers, problem):
    found = a_policy("return 7, [1]")
    _ask(workers, found, problem)
    child = os.fork()
    if child == 0:
        workers.disown()
        os._exit(len(workers.pids()))

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _ask(workers, found, problem) == policy.Answer(7, (1,))


def test_p11_the_policies_of_a_round_share_its_seconds():
    times = iter([0.0, 4.0, 4.0, 6.5])
    budget = pool.Budget(process.Limits(round_s=6, clock=lambda: next(times)))
    assert budget.take(5) == 5
    with budget.spent():
        pass
    assert budget.take(5) == 2
    with budget.spent():
        pass

    with pytest.raises(policy.PolicyFailed, match="the 6 s for policies in one round are used up"):
        budget.take(5)


def test_a_question_that_the_round_has_no_time_for_says_so(a_policy, workers, problem):
    found = a_policy("while True: pass")
    workers.limits = dataclasses.replace(workers.limits, answer_s=500, round_s=2)
    workers.close()

    with pytest.raises(policy.PolicyFailed, match=r"did not (start|answer) within what was left of the 2 s"):
        _ask(workers, found, problem)


@pytest.fixture
def slow(a_policy, workers, tmp_path):
    """A policy that answers only while a file is away; workers that let it rest after two; and the seconds to add."""
    mark, later = tmp_path / "slow", [0.0]
    workers.limits = dataclasses.replace(
        workers.limits, times_late=2, rest_s=1000, clock=lambda: time.monotonic() + later[0]
    )
    found = a_policy(f"while os.path.exists({str(mark)!r}): pass\nreturn 7, [1]")
    mark.touch()
    return found, mark, later


def _fails(workers, found, problem, match):
    with pytest.raises(policy.PolicyFailed, match=match):
        _ask(workers, found, problem)


def test_a_policy_that_is_late_again_and_again_rests_and_costs_nothing(workers, slow, problem):
    found, mark, later = slow
    _fails(workers, found, problem, "did not answer within 0.5 s")
    _fails(workers, found, problem, "suspended, and asked once every 1000 s: .* 2 times in a row")
    mark.unlink()

    _fails(workers, found, problem, "is suspended")
    assert workers.pids() == {}
    later[0] = 1001
    assert _ask(workers, found, problem) == policy.Answer(7, (1,))


def test_after_its_rest_one_late_answer_suspends_it_again_and_a_good_one_forgives(workers, slow, problem):
    found, mark, later = slow
    _fails(workers, found, problem, "did not answer")
    _fails(workers, found, problem, "is suspended")
    later[0] = 1001
    _fails(workers, found, problem, "is suspended")
    later[0] = 2002
    mark.unlink()
    _ask(workers, found, problem)
    mark.touch()

    _fails(workers, found, problem, "did not answer within 0.5 s")


def test_a_new_version_is_asked_at_once(workers, slow, problem):
    found, mark, _ = slow
    _fails(workers, found, problem, "did not answer")
    _fails(workers, found, problem, "is suspended")
    mark.unlink()

    assert _ask(workers, dataclasses.replace(found, package="odd_package 2.0"), problem) == policy.Answer(
        7, (1,)
    )
