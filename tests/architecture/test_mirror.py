"""
Each module with behaviour has its tests in the mirrored place: a file of its name, or one there that imports it.

Those that have neither yet stand in `mirror_not_yet.txt`; the list may only shrink.
"""

import ast
import pathlib

from tests.architecture import sources

NOT_YET = pathlib.Path(__file__).with_name("mirror_not_yet.txt")
#: Tested through what they serve: declarations without behaviour of their own, or programs' first lines.
WITHOUT_MIRROR = {
    "scheduler/apps.py": "registration only",
    "xceweb/asgi.py": "wiring only; every page and socket test goes through it",
    "xceweb/celery.py": "wiring only; the system tests run it",
    "xceweb/urls.py": "wiring only; the access table walks it",
}
DECLARATIONS = ("xceweb/settings/",)


def test_every_module_with_behaviour_has_its_tests_in_the_mirrored_place():
    assert _without_tests() - _listed() == set()


def test_no_module_with_tests_stands_on_the_list_still():
    assert _listed() - _without_tests() == set()


def test_no_exemption_is_left_over():
    assert [name for name in WITHOUT_MIRROR if not (sources.PROJECT / name).exists()] == []


def _without_tests() -> set[str]:
    modules = {sources.name(path): path for path in sources.modules(*sources.PACKAGES)}
    return {
        name
        for name, path in modules.items()
        if _has_behaviour(path) and not _is_exempt(name) and not (_mirrors(path) or _is_imported(path))
    }


def _listed() -> set[str]:
    return {line for line in NOT_YET.read_text().splitlines() if line and not line.startswith("#")}


def _is_exempt(name: str) -> bool:
    return name in WITHOUT_MIRROR or name.startswith(DECLARATIONS) or name.endswith(("urls.py", "apps.py"))


def _has_behaviour(path: pathlib.Path) -> bool:
    """Say whether a module has a function with a body: more than declarations, protocols and re-exports."""
    return any(not _is_trivial(function) for function in sources.functions(path))


def _is_trivial(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A docstring alone, or Django's one-line `__str__`."""
    body = [each for each in function.body if not _is_constant(each)]
    return not body or function.name == "__str__"


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _mirrors(path: pathlib.Path) -> list[pathlib.Path]:
    place = sources.PROJECT / "tests" / path.relative_to(sources.PROJECT).parent
    name = path.parent.name if path.stem == "__init__" else path.stem.strip("_")
    return [*place.glob(f"test_{name}.py"), *place.glob(f"test_{name}_*.py")]


def _is_imported(path: pathlib.Path) -> bool:
    place = sources.PROJECT / "tests" / path.relative_to(sources.PROJECT).parent
    module = ".".join(path.relative_to(sources.PROJECT).with_suffix("").parts)
    return any(module in sources.imports(test) for test in place.glob("test_*.py"))
