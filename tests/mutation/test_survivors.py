"""
Every mutant of the modules that must not be wrong is killed by a test, or stands in `survivors.txt` with the reason.

First the tests beside the module, then, for those that survive, the tests of whatever builds on it.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.mutation import mutants, trials

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SURVIVORS = pathlib.Path(__file__).with_name("survivors.txt")
CORE = "tests/scheduler/core"
#: The tests beside each module.
BESIDE = {
    "scheduler.core.preemption.eligibility": [f"{CORE}/preemption/test_eligibility.py"],
    "scheduler.core.preemption.minimal_set": [f"{CORE}/preemption/test_minimal_set.py"],
    "scheduler.core.ledger": [f"{CORE}/test_ledger.py"],
    "scheduler.core.ordering": [f"{CORE}/test_ordering.py"],
}
#: The tests of what builds on them; what takes long elsewhere in the core says nothing more of them.
WIDER = [
    f"{CORE}/{name}"
    for name in (
        "preemption",
        "test_claims.py",
        "test_reserved.py",
        "test_rounds.py",
        "test_rounds_properties.py",
        "test_exact_selection.py",
    )
]
WORKERS = 2


def living(module, numbers, tests):
    """Return which of a module's mutants these tests let live."""
    shares = [numbers[first::WORKERS] for first in range(WORKERS)]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        found = list(workers.map(lambda share: _living(module, share, tests), shares))
    return sorted(number for share in found for number in share)


def _living(module, numbers, tests):
    if not numbers:
        return []
    env = {**os.environ, "PYTHONPATH": str(PROJECT), "XCE_NIGHT": ""}
    argv = [sys.executable, "-P", "-m", "tests.mutation.trials", module, ",".join(map(str, numbers)), "--"]
    done = subprocess.run([*argv, *tests], cwd=PROJECT, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def listed(module):
    rows = (
        line.partition(" # ")
        for line in SURVIVORS.read_text().splitlines()
        if line and not line.startswith("#")
    )
    return {name: why for name, _, why in rows if name.startswith(f"{module}: ")}


@pytest.mark.night
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("module", BESIDE)
def test_every_mutant_is_killed_or_explained(module):
    every = mutants.mutants(trials.path_of(module))
    left = living(module, list(range(len(every))), BESIDE[module])
    left = living(module, left, WIDER)

    assert {f"{module}: {every[number].name}" for number in left} == set(listed(module))


@pytest.mark.timeout(240)
def test_a_changed_comparison_is_killed_by_the_tests_beside_it():
    module = "scheduler.core.ordering"

    assert living(module, [0, 1, 2], BESIDE[module]) == []


def test_tests_that_are_not_green_on_the_right_module_kill_nobody():
    with pytest.raises(subprocess.CalledProcessError):
        living("scheduler.core.ordering", [0], ["tests/no_such_file.py"])


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["a <= b"]),
        ("x = 1", ["x = 2"]),
        ("x = not y", ["x = not not y"]),
        ("x = a and b", ["x = a or b"]),
        ("x: int | None = f", []),
    ],
)
def test_one_change_at_a_time(tmp_path, source, changed):
    path = tmp_path / "module.py"
    path.write_text(source)

    assert [mutants.ast.unparse(one.tree) for one in mutants.mutants(path)] == changed


def test_every_survivor_has_a_reason():
    for module in BESIDE:
        assert all(why for why in listed(module).values())
