"""
Runs tests on mutants of one module: `python -m tests.mutation.trials MODULE NUMBERS -- TESTS`, numbers with commas.

One warm process forks for each mutant, so that only the core and its tests are imported anew. The right module goes
first: the tests must be green on it. Prints the numbers of those that the tests let live, as a JSON list, last.
"""

import ast
import importlib.abc
import importlib.machinery
import json
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

#: Seconds of computing that the tests of one mutant may take: one may turn in circles.
LIMIT_S = 60
GREEN = int(pytest.ExitCode.OK)
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


def try_one(module: str, tree: object, tests: list[str]) -> int:
    """Run the tests on one mutant in a child; 0 when it lives."""
    child = os.fork()
    if child == 0:
        code = int(pytest.ExitCode.INTERNAL_ERROR)
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
            install(module, tree)
            code = _run(tests)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _run(tests: list[str]) -> int:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutant", phases=phases, database=None, derandomize=True)
    hypothesis.settings.load_profile("mutant")
    options = ["-qx", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not night"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, "--hypothesis-profile=mutant", *tests]))


def main(arguments: list[str]) -> int:
    """Try what was asked for."""
    module, numbers, _, *tests = arguments
    warnings.simplefilter("ignore")
    django.setup()
    if try_one(module, ast.parse(path_of(module).read_text()), tests) != GREEN:
        print(f"{' '.join(tests)}: not green on the right module", file=sys.stderr)
        return 1
    every = mutants.mutants(path_of(module))
    alive = [n for n in map(int, numbers.split(",")) if try_one(module, every[n].tree, tests) == GREEN]
    print(json.dumps(alive))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
