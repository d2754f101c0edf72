"""How a query that is being typed may go on."""

from __future__ import annotations

import pytest

from scheduler.selectors import session_query
from tests import worlds
from xceweb.dashboard.contexts import query_help


@pytest.mark.parametrize(
    ("text", "options", "hint"),
    [
        ("sta", ["state:"], "Words match names"),
        ("state:s", ["state:scheduled", "state:suspended", "state:stopping"], "state: its state"),
        ("user:me queue:u", ["user:me queue:urgent"], "queue: its queue"),
        ("group:", ["group:gpu"], "group: its resource group"),
        ("age>", ["age>15m", "age>1h", "age>1d"], "age: how long ago"),
        ("state:pending", [], "state: its state"),
        ("no-such-word", [], "Words match names"),
    ],
)
def test_the_last_word_may_go_on(world: worlds.World, text: str, options: list[str], hint: str) -> None:
    """With what came before it, as far as the viewer may see it."""
    found = query_help.load(world.people["viewer"], text)

    assert found["options"] == options
    assert found["hint"].startswith(hint)


def test_an_empty_query_may_begin_with_every_field(world: worlds.World) -> None:
    """Every field of the language has its words, and each that is offered can be read."""
    viewer = world.people["viewer"]
    offered = [way for key in session_query.FIELDS for way in query_help.load(viewer, f"{key}:")["options"]]

    assert len(query_help.load(viewer, "")["options"]) == query_help.MOST
    assert {
        key
        for key in session_query.FIELDS
        if query_help.load(viewer, f"{key}:")["hint"].startswith(f"{key}: ")
    } == (session_query.FIELDS.keys())
    assert [query_help.load(viewer, f"{way} ")["fault"] for way in offered] == [""] * len(offered)


def test_a_fault_is_told_once_its_word_is_complete(world: worlds.World) -> None:
    """Not while it is being typed."""
    viewer = world.people["viewer"]

    assert query_help.load(viewer, "state:x")["fault"] == ""
    found = query_help.load(viewer, "state:x qu")
    assert "state 'x' is none of" in found["fault"]
    assert found["hint"] == ""
