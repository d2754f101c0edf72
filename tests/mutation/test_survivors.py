"""
Every mutant of the modules that must not be wrong is killed by a test, or stands in `survivors.txt` with the reason.

One pytest process for each mutant: first the tests beside the module, then, for those that survive, all of the core.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import pytest

from tests.mutation import mutants

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SURVIVORS = pathlib.Path(__file__).with_name("survivors.txt")
CORE = "tests/scheduler/core"
BESIDE = {
    "scheduler.core.preemption.eligibility": [f"{CORE}/preemption/test_eligibility.py"],
    "scheduler.core.preemption.minimal_set": [f"{CORE}/preemption/test_minimal_set.py"],
    "scheduler.core.ledger": [f"{CORE}/test_ledger.py"],
    "scheduler.core.ordering": [f"{CORE}/test_ordering.py"],
}
#: A mutant may turn in circles.
LIMIT_S = 120


def path_of(module):
    return PROJECT / (module.replace(".", "/") + ".py")


def is_killed(module, number, tests):
    env = {**os.environ, "XCE_MUTANT": f"{module}:{number}", "XCE_NIGHT": ""}
    argv = [
        sys.executable,
        "-P",
        "-m",
        "pytest",
        "-qx",
        "-p",
        "tests.mutation.plugin",
        "-p",
        "no:randomly",
        *tests,
    ]
    argv += ["-p", "no:cacheprovider", "-m", "not night"]
    try:
        done = subprocess.run(argv, cwd=PROJECT, env=env, capture_output=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def listed(module):
    rows = (
        line.partition(" # ")
        for line in SURVIVORS.read_text().splitlines()
        if line and not line.startswith("#")
    )
    return {name: why for name, _, why in rows if name.startswith(f"{module}: ")}


@pytest.mark.night
@pytest.mark.parametrize("module", BESIDE)
def test_every_mutant_is_killed_or_explained(module):
    every = mutants.mutants(path_of(module))
    left = list(range(len(every)))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as workers:
        for tests in (BESIDE[module], [CORE]):
            killed = workers.map(lambda number, tests=tests: is_killed(module, number, tests), left)
            left = [number for number, is_dead in zip(left, killed, strict=True) if not is_dead]
    survivors = {f"{module}: {every[number].name}" for number in left}

    assert survivors == set(listed(module))


def test_a_changed_comparison_is_killed_by_the_tests_beside_it():
    module = "scheduler.core.ordering"
    dead = [is_killed(module, number, BESIDE[module]) for number in range(3)]

    assert any(dead)


def test_the_tests_beside_it_are_green_without_a_mutant():
    argv = [sys.executable, "-P", "-m", "pytest", "-qx", *BESIDE["scheduler.core.ordering"]]

    assert (
        subprocess.run(argv, cwd=PROJECT, capture_output=True, timeout=LIMIT_S, check=False).returncode == 0
    )


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
