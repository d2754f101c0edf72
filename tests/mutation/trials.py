"""
Runs tests on mutants of one module: `python -m tests.mutation.trials MODULE NUMBERS -- TESTS`, numbers with commas.

One warm process forks for each mutant, so that only the core and its tests are imported anew. The right module goes
first: the tests must be green on it. Prints the numbers of those that the tests let live, as a JSON list, last.
"""

import ast
import dataclasses
import importlib.abc
import importlib.machinery
import json
import math
import os
import pathlib
import resource
import sys
import warnings

import django
import hypothesis
import numpy as np
import pytest

from tests.mutation import mutants

#: How much longer than on the right module tests may compute on a mutant, which may turn in circles.
TIMES = 4
#: What one trial may take of the machine's memory.
MEMORY_BYTES = 4 << 30
#: Seconds that tests may compute on the right module.
LONGEST_S = 300
#: Imported before the forks.
WARM = (django, hypothesis, np)


class Wrong(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads the mutated module in place of the right one."""

    def __init__(self, module: str, tree: object, path: pathlib.Path) -> None:
        self.module, self.tree, self.path = module, tree, path

    def find_spec(self, name, path=None, target=None):
        """Answer for the one module."""
        if name != self.module:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=str(self.path))

    def exec_module(self, module):
        """Run the mutated code."""
        module.__file__ = str(self.path)
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def install(module: str, tree: object) -> None:
    """Put a wrong module where imports find it first, and forget what is imported of the core and of tests."""
    for name in [name for name in sys.modules if _is_of_the_core(name)]:
        del sys.modules[name]
    sys.meta_path.insert(0, Wrong(module, tree, path_of(module)))


def _is_of_the_core(name: str) -> bool:
    return name.startswith(("scheduler.core", "tests."))


def path_of(module: str) -> pathlib.Path:
    """Return the file of a module."""
    return pathlib.Path(*module.split(".")).with_suffix(".py").resolve()


@dataclasses.dataclass(frozen=True)
class Trial:
    """What became of the tests on one module."""

    is_green: bool
    took_s: float  #: computing time


def try_one(module: str, tree: object, tests: list[str], limit_s: int) -> Trial:
    """Run the tests on one module in a child, which ends when it has computed for so long."""
    child = os.fork()
    if child == 0:
        code = int(pytest.ExitCode.INTERNAL_ERROR)
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            install(module, tree)
            code = _run(tests)
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    return Trial(os.waitstatus_to_exitcode(status) == pytest.ExitCode.OK, usage.ru_utime + usage.ru_stime)


def _run(tests: list[str]) -> int:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutant", phases=phases, database=None, derandomize=True)
    hypothesis.settings.load_profile("mutant")
    options = ["-qx", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not night"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-o", "timeout=0"]
    return int(pytest.main([*options, "--hypothesis-profile=mutant", *tests]))


def main(arguments: list[str]) -> int:
    """Try what was asked for."""
    module, numbers, _, *tests = arguments
    warnings.simplefilter("ignore")
    django.setup()
    right = try_one(module, ast.parse(path_of(module).read_text()), tests, LONGEST_S)
    if not right.is_green:
        print(f"{' '.join(tests)}: not green on the right module", file=sys.stderr)
        return 1
    every, limit_s = mutants.mutants(path_of(module)), 2 + math.ceil(TIMES * right.took_s)
    alive = [
        n for n in map(int, numbers.split(",")) if try_one(module, every[n].tree, tests, limit_s).is_green
    ]
    print(json.dumps(alive))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
