"""Named places do nothing, unless a test's launcher arms them; and a check tells where they are armed."""

from __future__ import annotations

import ast
import pathlib

import pytest

from scheduler import apps, points

PROJECT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def passed():
    seen = []
    points.arm(seen.append)
    yield seen
    points.arm(None)


def test_a_place_does_nothing_and_the_check_is_content():
    points.reach("round.locked")

    assert not points.is_armed()
    assert apps.check_points() == []


def test_an_armed_place_acts_and_the_check_fails(passed):
    points.reach("round.locked")

    assert passed == ["round.locked"]
    assert [error.id for error in apps.check_points()] == ["scheduler.E001"]


def test_the_product_reaches_each_place_and_arms_none():
    reached, armed = [], []
    for path in (PROJECT / "scheduler").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "points.reach":
                reached.append(ast.literal_eval(node.args[0]))
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "points.arm":
                armed.append(path.name)

    assert set(reached) == set(points.ALL)
    assert len(points.ALL) == 26
    assert armed == []
