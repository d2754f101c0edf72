"""
Pytest plugin: run the tests on one mutant, named by XCE_MUTANT as `module.path:number`.

Load it with `-p tests.mutation.plugin`, so that the wrong module is there before any test imports it.
"""

import importlib.abc
import importlib.machinery
import os
import pathlib
import sys

from tests.mutation import mutants


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


def install(what: str) -> None:
    """Put the mutant `module.path:number` where imports find it first."""
    module, _, number = what.partition(":")
    path = pathlib.Path(*module.split(".")).with_suffix(".py").resolve()
    if module in sys.modules:
        raise RuntimeError(f"{module} is imported already; load this plugin first")
    sys.meta_path.insert(0, Wrong(module, mutants.mutants(path)[int(number)].tree, path))


if os.environ.get("XCE_MUTANT"):
    install(os.environ["XCE_MUTANT"])
