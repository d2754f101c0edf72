"""Small functions, small modules, shallow code: the limits, and the table that shows where we are."""

import ast
import pathlib
import statistics

import pytest

from tests.architecture import sources

FUNCTION_MEDIAN, FUNCTION_MOST, FUNCTION_LONGEST = 7, 25, 50
MODULE_LONGEST, NESTING_DEEPEST, PARAMETERS_MOST, TEST_MEDIAN = 300, 3, 5, 15
AREAS = ("scheduler/core", "scheduler/protocol", "scheduler/agent", "scheduler", "xceweb/stack", "xceweb")
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def test_no_function_is_longer_than_the_limit():
    long = [
        f"{where}: {size}"
        for where, size in _function_sizes("scheduler", "xceweb")
        if size > FUNCTION_LONGEST
    ]

    assert long == []


@pytest.mark.parametrize("area", AREAS)
def test_most_functions_are_short(area):
    sizes = sorted(size for _, size in _function_sizes(area))

    assert statistics.median(sizes) <= FUNCTION_MEDIAN
    assert sizes[int(len(sizes) * 0.9)] <= FUNCTION_MOST


def test_no_module_is_longer_than_the_limit():
    lengths = {sources.name(path): _lines(path) for path in sources.modules("scheduler", "xceweb")}

    assert {name: length for name, length in lengths.items() if length > MODULE_LONGEST} == {}


def test_no_function_nests_deeper_than_the_limit():
    deep = [
        f"{sources.name(path)}:{function.name}"
        for path in sources.modules("scheduler", "xceweb")
        for function in sources.functions(path)
        if _depth(function) > NESTING_DEEPEST
    ]

    assert deep == []


def test_no_function_takes_more_parameters_than_the_limit():
    many = [
        f"{sources.name(path)}:{function.name}"
        for path in sources.modules("scheduler", "xceweb")
        for function in sources.functions(path)
        if _parameters(function) > PARAMETERS_MOST
    ]

    assert many == []


def test_most_tests_are_short():
    sizes = [size for where, size in _function_sizes("tests") if where.rpartition(":")[2].startswith("test_")]

    assert statistics.median(sizes) <= TEST_MEDIAN


def test_the_table_of_sizes(capsys):
    rows = [_row(area) for area in (*AREAS, "tests")]
    with capsys.disabled():
        print("\narea               functions  median  90 %  longest  modules  longest")
        for row in rows:
            print(row)

    assert len(rows) == len(AREAS) + 1


def test_depth_counts_blocks_and_treats_elif_as_one():
    text = "def f():\n if a:\n  for b in c:\n   with d:\n    while e:\n     pass\n"
    chain = "def f():\n    if a:\n        pass\n    elif b:\n        pass\n    elif c:\n        pass\n"

    assert _depth(ast.parse(text).body[0]) == 4
    assert _depth(ast.parse(chain).body[0]) == 1


def _row(area: str) -> str:
    sizes = sorted(size for _, size in _function_sizes(area))
    lengths = sorted(_lines(path) for path in sources.modules(area))
    middle, most = statistics.median(sizes), sizes[int(len(sizes) * 0.9)]
    functions = f"{len(sizes):>9}  {middle:>6}  {most:>4}  {sizes[-1]:>7}"
    return f"{area:<18} {functions}  {len(lengths):>7}  {lengths[-1]:>7}"


def _function_sizes(*places: str) -> list[tuple[str, int]]:
    return [
        (f"{sources.name(path)}:{function.name}", _size(function))
        for path in sources.modules(*places)
        for function in sources.functions(path)
    ]


def _size(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from its name to its end, the docstring not counted."""
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def _lines(path: pathlib.Path) -> int:
    return len(path.read_text().splitlines())


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    names = [
        each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    ]
    return len([name for name in names if name not in ("self", "cls")])


def _depth(node: ast.AST, *, is_elif: bool = False) -> int:
    own = int(isinstance(node, BLOCKS) and not is_elif)
    orelse = getattr(node, "orelse", None) or []
    below = [
        _depth(child, is_elif=isinstance(node, ast.If) and orelse == [child] and isinstance(child, ast.If))
        for child in ast.iter_child_nodes(node)
    ]
    return own + max(below, default=0)
