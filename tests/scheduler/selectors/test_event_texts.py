"""Events in words: complete for those who may see, without identities for the others."""

from __future__ import annotations

import ast
import dataclasses
import datetime
import pathlib
from typing import Any

import pytest

from scheduler import services
from scheduler.selectors import event_log, event_texts, permissions
from scheduler.services import transitions

Sight = permissions.Sight
NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
SECRETS = ("secret-name", "secret-node", "secret-person", "secret-reason", "7")


def entry(type_: str, **changes: Any) -> event_log.Entry:
    """Return an event of a session on a node by a person, full of what others may not read."""
    values: dict[str, Any] = {field.name: None for field in dataclasses.fields(event_log.Entry)}
    values |= {"number": 1, "type": type_, "at": NOW, "group_id": 1, "group": "gpu", "session_id": 2}
    values |= {"session": "id", "session_name": "secret-name", "queue": "normal", "node": "secret-node"}
    values |= {"actor_id": 3, "actor_name": "secret-person", "changed": ["priority"]}
    data = {"reason": "secret-reason", "exit_code": 7, "result": "failure", "cause": "secret-reason"}
    return event_log.Entry(**{**values, "data": data, **changes})


TYPES = sorted(
    {*transitions.EVENTS.values(), "session.submitted", "session.waits", "session.held", "session.changed"}
    | {"decision.preempt", "decision.shadow", "decision.wait", "decision.outcome", "session.unheard_of"}
)


@pytest.mark.parametrize("type_", TYPES)
def test_a_summary_has_no_identity(type_: str) -> None:
    """Whatever the event: queue and what happened."""
    text = event_texts.text(entry(type_), Sight.SUMMARY)

    assert text.startswith("A session in **normal** ")
    assert [secret for secret in SECRETS if secret in text] == []


@pytest.mark.parametrize("type_", TYPES)
def test_every_event_has_words(type_: str) -> None:
    """Also one that this version does not know."""
    text = event_texts.text(entry(type_), Sight.FULL)

    assert text.startswith("**secret-name** ")
    assert "_" not in text
    assert "." not in text.removeprefix("**secret-name** ")


@pytest.mark.parametrize(
    ("type_", "changes", "text"),
    [
        ("session.started", {}, "**secret-name** runs on **secret-node**"),
        ("session.started", {"data": {"resumed": True}}, "**secret-name** runs again on **secret-node**"),
        ("session.ended", {}, "**secret-name** failed with exit code **7**"),
        ("session.ended", {"data": {"result": "success"}}, "**secret-name** finished"),
        ("session.waits", {"data": {"reason": "held"}}, "**secret-name** waits: held"),
        ("session.held", {}, "**secret-name** is held by **secret-person**"),
        ("session.held", {"actor_id": None}, "**secret-name** is held"),
        (
            "session.held",
            {"data": {"reason": "start-failed", "tries": 5}},
            "**secret-name** is held: **5** starts in a row came to nothing",
        ),
        (
            "session.held",
            {"data": {"reason": "cannot-be-ordered", "why": "too-large"}},
            "**secret-name** is held: its start cannot be ordered from an agent (too-large)",
        ),
        (
            "decision.preempt",
            {"data": {"victims": 0, "takes_over": True}},
            "**secret-name** takes over the room that is being made for a session behind it on **secret-node**",
        ),
        (
            "session.claims",
            {"node": None, "data": {"nodes": ["n1", "n2"]}},
            "**secret-name** has waited too long: sessions behind it leave its room alone on **n1, n2**",
        ),
        (
            "decision.preempt",
            {"data": {"victims": 2}},
            "**secret-name** gets room by stopping **2** sessions on **secret-node**",
        ),
    ],
)
def test_those_who_may_see_read_the_facts(type_: str, changes: dict[str, Any], text: str) -> None:
    """Node, person, numbers."""
    assert event_texts.text(entry(type_, **changes), Sight.OPERATIONS) == text


def test_a_switch_says_its_position() -> None:
    """And who set it."""
    changed = entry(
        "group.policy_changed",
        session_id=None,
        node=None,
        changed=["preemption_state"],
        data={"after": {"preemption_state": "on"}},
    )

    assert (
        event_texts.text(changed, Sight.OPERATIONS)
        == "Group **gpu** has preemption **on**, set by **secret-person**"
    )


@pytest.mark.parametrize(
    ("type_", "data", "text"),
    [
        (
            "change_planned",
            {"after": {"preemption_state": "on"}},
            "will have preemption **on** at **1 Jan 00:00 UTC**",
        ),
        ("change_planned", {"after": {"grace_period": 9}}, "will have new rules at **1 Jan 00:00 UTC**"),
        (
            "return_planned",
            {"after": {"preemption_state": "off"}},
            "goes back to preemption **off** by itself at",
        ),
        ("return_planned", {"after": {}}, "goes back to its former rules by itself at"),
        (
            "plan_ended",
            {"end": "cancelled", "kind": "return", "text": "no"},
            "that was cancelled by **secret-person**: no",
        ),
        (
            "plan_ended",
            {"end": "overtaken", "kind": "change", "text": "x"},
            "has a planned change for **1 Jan 00:00 UTC**",
        ),
        ("plan_ended", {"end": "failed", "kind": "change", "text": "x"}, "that could not be carried out: x"),
    ],
)
def test_a_plan_says_what_and_when(type_: str, data: dict[str, Any], text: str) -> None:
    """With who planned or cancelled it, where that may be seen."""
    event = entry(f"group.{type_}", session_id=None, node=None, data={"at": NOW.isoformat(), **data})

    assert text in event_texts.text(event, Sight.OPERATIONS)
    assert "secret-person" not in event_texts.text(event, Sight.SUMMARY)


def test_nodes_and_queues_are_named() -> None:
    """Their events have no session."""
    node = entry("node.state_changed", session_id=None, actor_id=None, data={"state": "draining"})
    queue = entry("queue.changed", session_id=None, node=None, data={"queue": "urgent"})

    assert event_texts.text(node, Sight.OPERATIONS) == "Node **secret-node** is **draining**"
    assert event_texts.text(queue, Sight.OPERATIONS) == "Queue **urgent** has new rules"


def test_a_name_cannot_turn_bold_off() -> None:
    """Asterisks of a name are not markup."""
    assert (
        event_texts.text(entry("session.submitted", session_name="a**b"), Sight.FULL)
        == "**ab** was submitted"
    )


def told(node: ast.AST) -> set[str]:
    """Return the event types that one call of ``tell`` names as constants."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tell"
    found = ast.walk(node.args[0]) if is_call else []
    values = {part.value for part in found if isinstance(part, ast.Constant)}
    return {value for value in values if isinstance(value, str)}


def test_every_type_that_a_service_tells_has_words_and_no_other() -> None:
    """Read from the services' source, so that a new event cannot be forgotten here."""
    sources = [path.read_text() for path in pathlib.Path(services.__path__[0]).glob("*.py")]
    calls = {type_ for source in sources for node in ast.walk(ast.parse(source)) for type_ in told(node)}

    assert {"session.stuck", "node.joined", "node.hello"} <= calls
    assert calls | set(transitions.EVENTS.values()) == event_texts.KNOWN


def test_a_summary_is_told_states_and_decisions() -> None:
    """Every transition, and not how many a decision stops."""
    assert set(transitions.EVENTS.values()) <= event_log.FOR_SUMMARY <= event_texts.KNOWN
    text = event_texts.text(entry("decision.preempt", data={"victims": 2}), Sight.SUMMARY)
    assert text == "A session in **normal** gets room"


def test_a_stuck_stop_has_words() -> None:
    """With the node for those who may see it."""
    text = event_texts.text(entry("session.stuck"), Sight.OPERATIONS)

    assert "not proven stopped at its deadline" in text
    assert text.endswith("on **secret-node**")


def test_a_session_that_ran_while_suspended_has_words() -> None:
    """For its owner each time; for those who look after the node with what they can do."""
    held = event_texts.text(entry("session.held_again"), Sight.FULL)
    escapes = event_texts.text(entry("session.escapes", data={"times": 3}), Sight.OPERATIONS)

    assert "somebody continued its processes; it was stopped again" in held
    assert "was continued **3** times while suspended on **secret-node**" in escapes
    assert escapes.endswith("cancel it, or resume it")
    assert not {"session.held_again", "session.escapes"} & event_log.FOR_SUMMARY
