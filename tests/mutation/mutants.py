"""
Small wrongs, one at a time: the mutants of a module.

A mutant is a module with one comparison, operator, number, boolean or branch changed. Tests that stay green on it do
not tell right from wrong there. ``plugin`` runs a test session on one of them.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import pathlib
from collections.abc import Iterator

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change, named by what stands there: the name outlives edits elsewhere in the file."""

    name: str  #: function: old line -> new expression (and which of several equal ones)
    line: int
    tree: ast.Module


def mutants(path: pathlib.Path) -> list[Mutant]:
    """Return every mutant of a module, in the order of its lines."""
    source = path.read_text()
    tree = ast.parse(source)
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    unread = _unread(tree)
    for place, node in enumerate(ast.walk(tree)):
        for number, _ in enumerate(() if place in unread else _changes(node)):
            changed = copy.deepcopy(tree)
            twin = next(one for at, one in enumerate(ast.walk(changed)) if at == place)
            before = ast.unparse(twin)
            list(_changes(twin))[number]()
            ast.fix_missing_locations(changed)
            name = f"{_owner(tree, node)}: {before} -> {ast.unparse(twin)}".replace("\n", "; ")
            seen[name] = seen.get(name, 0) + 1
            name = name if seen[name] == 1 else f"{name} ({seen[name]})"
            found.append(Mutant(name, getattr(node, "lineno", 0), changed))
    return sorted(found, key=lambda one: (one.line, one.name))


def _changes(node: ast.AST) -> Iterator:
    """Return what can be changed in one node, as calls that change it."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if type(operator) in _COMPARED:
                    yield lambda place=place, operator=operator: node.ops.__setitem__(
                        place, _COMPARED[type(operator)]()
                    )
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _COMPUTED:
            yield lambda: setattr(node, "op", _COMPUTED[type(node.op)]())
        case ast.BoolOp():
            yield lambda: setattr(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
        case ast.UnaryOp(op=ast.USub()):
            yield lambda: setattr(node, "op", ast.UAdd())
        case ast.Constant(value=bool()):
            yield lambda: setattr(node, "value", not node.value)
        case ast.Constant(value=int()):
            yield lambda: setattr(node, "value", node.value + 1)
        case ast.Call(func=ast.Name()) if node.func.id in _CALLED:
            yield lambda: setattr(node.func, "id", _CALLED[node.func.id])
        case ast.If() | ast.While() | ast.IfExp():
            yield lambda: setattr(node, "test", ast.Constant(False))
        case ast.Return() if node.value is not None and not isinstance(node.value, ast.Constant):
            yield lambda: setattr(node, "value", ast.Constant(None))


def _unread(tree: ast.Module) -> set[int]:
    """
    Return the places in the walk whose change no input can show: annotations, decorators, and `strict` of `zip`.
    """
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "strict":
            skipped.add(id(node.value))
        for field in ("annotation", "returns", "decorator_list"):
            parts = getattr(node, field, None) or []
            for part in parts if isinstance(parts, list) else [parts]:
                skipped |= {id(inner) for inner in ast.walk(part)}
    return {place for place, node in enumerate(ast.walk(tree)) if id(node) in skipped}


def _owner(tree: ast.Module, node: ast.AST) -> str:
    owners = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.ClassDef) and any(inner is node for inner in ast.walk(one))
    ]
    return ".".join(one.name for one in sorted(owners, key=lambda one: one.lineno)) or "module"
