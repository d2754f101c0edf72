"""Session.state has one writer, priorities have one setter: found in the syntax trees."""

import ast
import pathlib

import pytest

from tests.architecture import sources

DJANGO_SIDE = (
    "scheduler/models",
    "scheduler/selectors",
    "scheduler/services",
    "scheduler/management",
    "xceweb",
)
STATE_WRITER = "scheduler/services/transitions.py"
#: Columns of a session that only the one function changes.
STATE_COLUMNS = {"state_version", "state_since", "state_deadline"}
PRIORITY_WRITERS = {"scheduler/services/submission.py", "scheduler/services/priorities.py"}
WRITING_CALLS = {"update", "create", "update_or_create", "get_or_create", "bulk_create", "Session"}


def test_only_transitions_write_the_state_of_a_session():
    found = [
        fault
        for path in _django_modules()
        if sources.name(path) != STATE_WRITER
        for fault in _writes(path, {"state", *STATE_COLUMNS})
    ]

    assert found == []


def test_only_one_setter_writes_priorities():
    found = [
        fault
        for path in _django_modules()
        if sources.name(path) not in PRIORITY_WRITERS
        for fault in _writes(path, {"priority", "priority_cap"})
    ]

    assert found == []


def test_the_one_writer_of_the_state_exists():
    assert (sources.PROJECT / STATE_WRITER).exists()


@pytest.mark.parametrize(
    "text",
    [
        "session.state = 'running'",
        "other.session.state = 'running'",
        "session.state, x = 1, 2",
        "setattr(session, 'state', 1)",
        "Session.objects.filter(pk=1).update(state='running')",
        "models.Session(state='running')",
        "rows.bulk_update(rows, ['state'])",
        "rows.bulk_update(rows, fields=['state'])",
        "cursor.execute('UPDATE scheduler_session SET state = 1')",
        "session.save(update_fields=['state'])",
    ],
)
def test_the_search_finds_a_planted_writer(text, tmp_path):
    assert _writes(_module(tmp_path, text), {"state"}) != []


@pytest.mark.parametrize(
    "text",
    ["node.state = 'down'", "models.Node.objects.filter(pk=1).update(state='down')", "x = session.state"],
)
def test_the_search_leaves_nodes_and_readers_alone(text, tmp_path):
    assert _writes(_module(tmp_path, text), {"state"}) == []


def _module(directory: pathlib.Path, text: str) -> pathlib.Path:
    path = directory / "module.py"
    path.write_text(text)
    return path


def _django_modules() -> list[pathlib.Path]:
    return [*sources.modules(*DJANGO_SIDE), *(sources.PROJECT / "scheduler").glob("*.py")]


def _writes(path: pathlib.Path, columns: set[str]) -> list[str]:
    return [
        f"{path.name}:{node.lineno}: {ast.unparse(node)[:100]}"
        for scope in sources.parse(path).body
        if not _is_about_nodes_alone(scope)
        for node in ast.walk(scope)
        if _is_write(node, columns) and not _is_about_another_model(node) and not _is_birth(path, node)
    ]


def _is_about_nodes_alone(scope: ast.stmt) -> bool:
    """Say whether a function speaks of nodes and of no session: their state is another column."""
    nodes = list(ast.walk(scope))
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    return any("Node" in name for name in names) and not any("session" in name.lower() for name in names)


def _is_birth(path: pathlib.Path, node: ast.AST) -> bool:
    """Say whether a submission makes a session: its first state and its priorities are set there."""
    is_creation = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Session.objects.create")
    return path.name == "submission.py" and is_creation


def _is_write(node: ast.AST, columns: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Store) and node.attr in columns
    if isinstance(node, ast.Call):
        return _is_writing_call(node, columns)
    return False


def _is_writing_call(node: ast.Call, columns: set[str]) -> bool:
    called = ast.unparse(node.func).rpartition(".")[2]
    keywords = {keyword.arg for keyword in node.keywords}
    if called in WRITING_CALLS:
        return bool(keywords & columns)
    strings = {value.value for value in ast.walk(node) if isinstance(value, ast.Constant)}
    if called in ("setattr", "bulk_update", "save"):
        return bool(strings & columns)
    return called == "execute" and any(_is_update_of_sessions(text) for text in strings)


def _is_update_of_sessions(text: object) -> bool:
    return isinstance(text, str) and "update scheduler_session " in f"{text.lower()} "


def _is_about_another_model(node: ast.AST) -> bool:
    """Nodes, queues and policies have columns of the same names."""
    target = (
        node.value if isinstance(node, ast.Attribute) else node.func if isinstance(node, ast.Call) else None
    )
    if target is None:
        return False
    words = ast.unparse(target)
    return any(word in words for word in ("Node", "node", "Round", "Command", "Queue", "Event", "entities."))
