"""The project's own Python files, parsed; shared by the tests of its architecture."""

import ast
import functools
import pathlib
from collections.abc import Iterator

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("scheduler", "xceweb")


def modules(*places: str) -> list[pathlib.Path]:
    """Return the modules below some directories of the project, migrations aside, in order."""
    found = (path for place in places for path in (PROJECT / place).rglob("*.py"))
    return sorted(path for path in found if not {"migrations", "__pycache__"} & set(path.parts))


def name(path: pathlib.Path) -> str:
    """Return a path as it is written in messages: relative to the project."""
    return str(path.relative_to(PROJECT))


@functools.cache
def parse(path: pathlib.Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(path.read_text(), filename=str(path))


def functions(path: pathlib.Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return every function and method of a module."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(parse(path)) if isinstance(node, kinds)]


@functools.cache
def imports(path: pathlib.Path) -> tuple[str, ...]:
    """Return the absolute names of all that a module imports, at any depth; `a.b` for `from a import b`."""
    return tuple(_imports(path))


def _imports(path: pathlib.Path) -> Iterator[str]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{_base(path, node)}.{alias.name}" for alias in node.names)


def _base(path: pathlib.Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = path.relative_to(PROJECT).with_suffix("").parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])
