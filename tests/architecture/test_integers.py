"""Amounts are exact: no float reaches resources."""

import ast

import pytest

from tests.architecture import sources

EXACT = ("scheduler/core/resources.py", "scheduler/core/units.py", "scheduler/core/ledger.py")


@pytest.mark.parametrize("place", EXACT)
def test_amounts_know_no_floats_and_no_true_division(place):
    path = sources.PROJECT / place
    found = [f"{place}:{node.lineno}" for node in ast.walk(sources.parse(path)) if _is_inexact(node)]

    assert found == []


@pytest.mark.parametrize("text", ["x = 0.5", "x = a / b", "x /= 2", "x = float('4')", "x = round(y, 2)"])
def test_the_search_finds_planted_floats(text):
    assert any(_is_inexact(node) for node in ast.walk(ast.parse(text)))


def _is_inexact(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return isinstance(node.op, ast.Div)
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("float", "round")
