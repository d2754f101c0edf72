"""Who may import whom; the layers as a whole are held by import-linter (pyproject.toml)."""

import ast
import pathlib
import subprocess
import sys

import pytest

from tests.architecture import sources

#: What the stack uses of the scheduler to see whether a file of scenarios needs servers.
READS_CASES = ("scheduler.scenarios.errors", "scheduler.scenarios.reading")
#: What the pure packages may use of the standard library: no clock, no chance, no files, no processes.
PURE_LIBRARY = {
    *(
        "__future__",
        "abc",
        "bisect",
        "collections",
        "contextlib",
        "dataclasses",
        "enum",
        "fractions",
        "functools",
        "graphlib",
    ),
    *(
        "hashlib",
        "heapq",
        "hmac",
        "importlib.metadata",
        "itertools",
        "json",
        "math",
        "operator",
        "re",
        "signal",
    ),
    *("string", "types", "typing", "uuid"),
}
IMPURE_CALLS = {
    "open",
    "print",
    "input",
    "eval",
    "exec",
    "globals",
    "breakpoint",
    "uuid1",
    "uuid4",
    "now",
    "today",
}


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        pytest.param("scheduler/core", {*PURE_LIBRARY, "numpy", "scheduler.core"}, id="core"),
        pytest.param(
            "scheduler/protocol", {*PURE_LIBRARY, "scheduler.protocol", "scheduler.core"}, id="protocol"
        ),
    ],
)
def test_a_pure_package_imports_from_its_allow_list_alone(package, allowed):
    foreign = {
        f"{sources.name(path)} imports {found}"
        for path in sources.modules(package)
        for found in sources.imports(path)
        if not any(found == name or found.startswith(f"{name}.") for name in allowed)
    }

    assert foreign == set()


@pytest.mark.parametrize("package", ["scheduler/core", "scheduler/protocol"])
def test_a_pure_package_calls_nothing_that_reads_or_writes_the_world(package):
    calls = {
        f"{sources.name(path)}:{node.lineno} calls {called}"
        for path in sources.modules(package)
        for node in ast.walk(sources.parse(path))
        if isinstance(node, ast.Call) and (called := _called(node)) in IMPURE_CALLS
    }

    assert calls == set()


def test_agents_import_the_protocol_and_the_states_alone():
    allowed = (
        "scheduler.agent",
        "scheduler.protocol",
        "scheduler.core.states",
        "scheduler.points",
        "scheduler.logs",
    )
    foreign = _imports_of("scheduler/agent", beginning=("scheduler", "xceweb", "django"), without=allowed)

    assert foreign == set()


def test_nothing_imports_the_web_but_the_web():
    foreign = _imports_of("scheduler", beginning=("xceweb", "rest_framework"))

    assert foreign == set()


def test_the_application_knows_nothing_of_the_stack_around_it():
    inside = sources.PROJECT / "xceweb" / "stack"
    foreign = {
        sources.name(path)
        for path in sources.modules("xceweb", "scheduler")
        if not path.is_relative_to(inside)
        and any(found.startswith("xceweb.stack") for found in sources.imports(path))
    }

    assert foreign == set()


def test_the_stack_starts_without_django():
    foreign = _imports_of("xceweb/stack", beginning=("django", "scheduler", "channels"))
    reads_cases = {f"xceweb/stack/scenario_servers.py imports {name}" for name in READS_CASES}

    assert {
        found for found in foreign - reads_cases if not found.startswith("xceweb/stack/commands.py")
    } == set()


def test_cases_are_read_without_django():
    loads = f"import sys, {', '.join(READS_CASES)}; sys.exit('django' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", loads], cwd=sources.PROJECT, check=False).returncode == 0


def test_no_module_has_a_name_that_says_nothing():
    nameless = {"utils", "helpers", "manager", "misc", "common_utils", "handler", "processor"}
    found = [sources.name(path) for path in sources.modules(*sources.PACKAGES) if path.stem in nameless]

    assert found == []


def _imports_of(package: str, *, beginning: tuple[str, ...], without: tuple[str, ...] = ()) -> set[str]:
    return {
        f"{sources.name(path)} imports {found}"
        for path in sources.modules(package)
        for found in sources.imports(path)
        if _is_within(found, beginning) and not _is_within(found, without)
    }


def _is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def test_the_import_reader_sees_every_form():
    path = sources.PROJECT / "scheduler" / "inside" / "module.py"
    tree = "import a.b\nfrom c import d\nfrom . import e\nfrom ..f import g\ndef late():\n    import h\n"

    assert _read(path, tree) == ["a.b", "c.d", "scheduler.inside.e", "scheduler.f.g", "h"]


def _read(path: pathlib.Path, text: str) -> list[str]:
    original = sources.parse
    sources.parse = lambda _: ast.parse(text)
    try:
        return list(sources.imports(path))
    finally:
        sources.parse = original
