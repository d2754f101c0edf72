"""Tried changes on a session's page and for programs: lines, actions, and what is said when nothing can be tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django import urls
from django.test import Client

from scheduler import models
from scheduler.core.counterfactuals import answers
from scheduler.selectors import counterfactuals as selector
from tests import model_factories, worlds
from xceweb.dashboard.contexts import counterfactuals, session_seen

ClientOf = Callable[[str], Client]


def load(world: worlds.World, session: models.Session, kind: str, who: str = "owner") -> dict[str, Any]:
    """Return what the fragment shows."""
    told: dict[str, Any] = counterfactuals.load(session_seen.look(world.people[who], session), kind)["told"]
    return told


def test_what_helps_stands_first_and_carries_its_action(world: worlds.World) -> None:
    """For the owner, who may change it; an operator reads the same without a button."""
    values = {"queue": world.queues["background"], "group": world.group, "slots": {"cuda.device": 4}}
    model_factories.a_session(owner=world.people["submitter"], state="running", priority=30, **values)
    session = model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["urgent"], group=world.group, slots={"cuda.device": 4}
    )

    lines = load(world, session, "pending")["suggestions"]
    operators = load(world, session, "pending", "operator")["suggestions"]

    assert lines[0]["label"] == "With priority 31 instead of 10"
    assert lines[0]["fact"] == "room is made for it by stopping **1** session"
    assert lines[0]["action"]["fields"] == {"priority": 31}
    assert [line["helps"] for line in lines] == sorted((line["helps"] for line in lines), reverse=True)
    assert lines[-1]["end"] == "no help"
    assert [line["action"] for line in operators] == [None] * len(operators)


def test_kinds_of_which_less_is_no_help_are_left_out_where_another_helps(world: worlds.World) -> None:
    """Half of the GPUs is the answer; that fewer cores are none is noise."""
    world.waiting.slots = {"cuda.device": 8, "cpu": 1000}
    world.waiting.save(update_fields=["slots"])

    labels = [line["label"] for line in load(world, world.waiting, "pending")["suggestions"]]

    assert "With 4 GPUs instead of 8" in labels
    assert not any(
        label.startswith(("With less than", "With fewer than")) or "everything" in label for label in labels
    )


@pytest.mark.parametrize("state", [s for s in selector.State if s != selector.State.FOUND])
def test_what_could_not_be_computed_is_said(
    world: worlds.World, monkeypatch: pytest.MonkeyPatch, state: selector.State
) -> None:
    """In a sentence, and nothing else."""
    monkeypatch.setattr(selector, "for_waiting", lambda *args: selector.Told(state))

    told = load(world, world.waiting, "pending")

    assert told["suggestions"] == []
    assert told["note"].startswith("Could not be computed")


def test_a_policy_of_another_package_is_named(world: worlds.World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it took part, and where it could not be asked."""
    one = answers.Counterfactual(answers.Kind.SPARED_OPT_OUT, True)
    found = selector.Told(selector.State.FOUND, (one,), policies=("odd",))
    monkeypatch.setattr(selector, "for_waiting", lambda *args: found)
    took_part = load(world, world.waiting, "pending")["note"]
    failed = selector.Told(selector.State.POLICY, policies=("odd",))
    monkeypatch.setattr(selector, "for_waiting", lambda *args: failed)

    assert took_part.endswith("of another package (odd): only values that were tried are said, no ranges.")
    assert "of another package (odd): it failed" in load(world, world.waiting, "pending")["note"]


def test_a_search_that_was_cut_short_says_so(world: worlds.World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it found, and without."""
    one = answers.Counterfactual(answers.Kind.SPARED_OPT_OUT, True)
    monkeypatch.setattr(
        selector, "for_waiting", lambda *args: selector.Told(selector.State.FOUND, (one,), False)
    )
    with_some = load(world, world.waiting, "pending")["note"]
    monkeypatch.setattr(selector, "for_waiting", lambda *args: selector.Told(selector.State.FOUND, (), False))

    assert with_some.endswith("Not everything could be tried in the time for it.")
    assert (
        load(world, world.waiting, "pending")["note"] == "Not everything could be tried in the time for it."
    )


def fragment(client: Client, session: models.Session) -> str:
    """Return the part of the page that is asked for later."""
    address = urls.reverse("dashboard:session-detail", args=[session.public_id])
    answer = client.get(f"{address}?part=counterfactuals")
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_asks_for_it_only_when_the_reader_comes_to_it(
    world: worlds.World, client_of: ClientOf
) -> None:
    """The page itself runs no round."""
    for session, heading in (
        (world.waiting, "What would help?"),
        (world.victim, "What would have spared it?"),
    ):
        page = client_of("owner").get(urls.reverse("dashboard:session-detail", args=[session.public_id]))

        assert heading in page.content.decode()
        assert 'hx-trigger="revealed"' in page.content.decode()


def test_the_fragment_has_the_lines(world: worlds.World, client_of: ClientOf) -> None:
    """Each with the change and what came of it."""
    html = fragment(client_of("owner"), world.waiting)

    assert "With 4 GPUs instead of 8" in html
    assert "it starts now" in html


def test_a_failure_inside_leaves_a_page_that_says_so(
    world: worlds.World, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 200, and no trace of what went wrong."""

    def fail(*args: Any, **more: Any) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(selector.waiting, "would_help", fail)

    html = fragment(client_of("owner"), world.waiting)

    assert "Could not be computed." in html
    assert "secret" not in html


def test_who_sees_a_summary_gets_no_answers(world: worlds.World, client_of: ClientOf) -> None:
    """Neither on the page nor as a program."""
    address = urls.reverse("api:session-counterfactuals", args=[world.waiting.public_id])

    found = client_of("viewer").get(address).json()

    assert (found["kind"], found["state"], found["answers"]) == ("other", "none", [])
    assert "instead of" not in fragment(client_of("viewer"), world.waiting)


def test_programs_get_kinds_numbers_and_sentences(world: worlds.World, client_of: ClientOf) -> None:
    """The same answers as data."""
    address = urls.reverse("api:session-counterfactuals", args=[world.waiting.public_id])

    found = client_of("owner").get(address).json()

    first = found["answers"][0]
    assert (found["kind"], found["state"], found["is_complete"]) == ("pending", "found", True)
    assert (first["kind"], first["helps"], first["facts"]["value"]) == ("starts-with-less", True, 4)
    assert first["sentence"] == "With 4 GPUs instead of 8, it starts now."
