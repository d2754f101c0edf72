"""Signals, graces and ends as people read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from scheduler import models
from scheduler.selectors import decisions
from tests import model_factories, worlds
from xceweb.dashboard.contexts import (
    decision_page,
    preemption_rule,
    session_seen,
    session_tabs,
    why_other,
    words,
)


def look(world: worlds.World, session: models.Session, who: str = "owner") -> session_seen.Seen:
    """Return the session as one person sees it."""
    row = models.Session.objects.select_related("group__policy", "queue", "owner").get(pk=session.pk)
    return session_seen.look(world.people[who], row)


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("suspend", "mode suspend, 2 s from SIGTSTP to SIGSTOP"),
        ("reschedule", "mode reschedule, 2 s from warning to kill"),
    ],
)
def test_the_time_line_says_what_the_grace_lies_between(world: worlds.World, mode: str, text: str) -> None:
    """A suspend has no kill."""
    facts = {"state": "preempted", "mode": mode, "grace_s": 2}
    model_factories.an_event("session.preempted", session=world.victim, data=facts)

    assert session_tabs.timeline(look(world, world.victim))["steps"][-1]["sub"] == text


@pytest.mark.parametrize(
    ("mode", "signal", "text"),
    [
        ("suspend", 20, "**SIGTSTP**, then **SIGSTOP** after **2 s**"),
        ("terminate", 15, "**SIGTERM**, then **SIGKILL** after **2 s**"),
    ],
)
def test_the_rule_names_its_signals(world: worlds.World, mode: str, signal: int, text: str) -> None:
    """The warning and what follows it."""
    victim = look(world, world.victim).stops[0]
    victim.mode, victim.signal, victim.grace_s = mode, signal, 2

    rule = preemption_rule.load(victim, None)

    assert {fact["term"]: fact["text"] for fact in rule["facts"]}["Warning"] == text


def test_a_decision_and_the_facts_name_signals(world: worlds.World) -> None:
    """No page shows a bare number."""
    row = decisions.require(world.people["owner"], world.decision.public_id)
    stopping = session_tabs.facts(look(world, world.victim))["sections"][2]["facts"]

    assert decision_page.load(world.people["owner"], row)["victims"][0]["signal"] == "SIGTSTP"
    assert {fact["term"]: fact["text"] for fact in stopping}["Warning signal"] == "SIGTERM"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("signal 9", "SIGKILL"),
        ("exit code 3", "exit code 3"),
        ("PREEMPTED_BY_SCHEDULER", "preempted by scheduler"),
        ("dependency-impossible", "dependency impossible"),
    ],
)
def test_a_stored_reason_becomes_words(text: str, expected: str) -> None:
    """Signals by name."""
    assert words.end_reason(text) == expected


def _end(world: worlds.World, **fields: Any) -> None:
    ended = {"state": "terminated", "ended_at": model_factories.ago(5)}
    models.Session.objects.filter(pk=world.waiting.pk).update(**ended, **fields)


def _reason(world: worlds.World, who: str = "owner") -> str:
    facts = why_other.load(look(world, world.waiting, who))["facts"]
    return {fact["term"]: fact["text"] for fact in facts}.get("Reason", "")


@pytest.mark.parametrize("reason", ["asked", "cancelled"])
@pytest.mark.parametrize("kind", ["session.cancel_asked", "session.ended"])
def test_an_end_that_a_person_asked_for_names_the_person(world: worlds.World, reason: str, kind: str) -> None:
    """Whether it ran or waited; with a summary there is no reason at all."""
    _end(world, result="cancelled", result_reason=reason)
    by = {"actor_id": world.people["operator"].pk, "actor_name": "operator"}
    model_factories.an_event(kind, session=world.waiting, **by)

    assert _reason(world) == "cancelled by **operator**"
    assert _reason(world, "viewer") == ""


def test_an_end_asked_by_nobody_the_log_knows_was_a_persons(world: worlds.World) -> None:
    """A command on the controller has no log-in."""
    _end(world, result="cancelled", result_reason="asked")
    model_factories.an_event("session.cancel_asked", session=world.waiting, actor_name="command")

    assert _reason(world) == "cancelled by a person"


def test_an_end_by_a_signal_names_it(world: worlds.World, client_of: Callable[[str], Client]) -> None:
    """On the page, in the sentence and in the reason."""
    _end(world, result="failure", result_reason="signal 9", exit_signal=9)

    page = client_of("owner").get(f"/sessions/{world.waiting.public_id}/").content.decode()

    assert "It was ended by <b>SIGKILL</b>." in page
    assert "signal 9" not in page
