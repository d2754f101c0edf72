"""The JSON twins: the same words and numbers as the pages, the same sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import urls
from django.test import Client

from scheduler import models
from scheduler.core import decisions
from tests import decision_factories, model_factories, worlds

ClientOf = Callable[[str], Client]


def ask(client: Client, name: str, public_id: object) -> dict[str, Any]:
    """Return the answer of one address."""
    answer = client.get(urls.reverse(f"api:{name}", args=[public_id]))
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_a_victim_gets_both_values_and_the_decision(world: worlds.World, client_of: ClientOf) -> None:
    """As its page says."""
    found = ask(client_of("owner"), "session-explanation", world.victim.public_id)

    assert (found["kind"], found["own_value"], found["preemptor_value"]) == ("preempted", 5, 20)
    assert found["decision"] == str(world.decision.public_id)
    assert "yours was 5" in found["sentence"]


def test_a_waiting_session_gets_its_reason_as_a_code(world: worlds.World, client_of: ClientOf) -> None:
    """Programs do not read sentences."""
    found = ask(client_of("owner"), "session-explanation", world.waiting.public_id)

    assert (found["kind"], found["reason"]) == ("pending", "no-resources")


def test_others_get_the_summary_alone(world: worlds.World, client_of: ClientOf) -> None:
    """State and queue."""
    found = ask(client_of("viewer"), "session-explanation", world.victim.public_id)

    assert (found["kind"], found["state"], found["queue"]) == ("other", "suspended", "normal")
    assert "decision" not in found


def test_a_record_hides_ids_of_sessions_that_are_not_visible_by_name(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Numbers stay, identities go."""
    own = ask(client_of("owner"), "decision-record", world.decision.public_id)
    other = ask(client_of("submitter"), "decision-record", world.decision.public_id)

    assert own["victims"][0]["session"] == str(world.victim.public_id)
    assert other["victims"][0]["session"] is None
    assert other["victims"][0]["own_value"] == own["victims"][0]["own_value"] == 5


def test_a_record_leaves_out_private_candidates_and_keeps_both_sides(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Who was stopped stays, without identity, even when it is private."""
    hidden = model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["normal"], group=world.group, is_private=True
    )
    verdict = decisions.CandidateView(hidden.pk, (world.node.pk,), decisions.Verdict.NOT_LOWER, {})
    row = decision_factories.a_preemption(
        world.running, [world.victim], node=world.node, not_chosen=[verdict]
    )
    models.Session.objects.filter(pk=world.victim.pk).update(is_private=True)

    found = {
        name: ask(client_of(name), "decision-record", row.public_id)
        for name in ("submitter", "operator", "manager")
    }

    verdicts = {name: [one["verdict"] for one in record["candidates"]] for name, record in found.items()}
    assert verdicts["submitter"] == verdicts["operator"] == ["selected"]
    assert verdicts["manager"] == ["selected", "not-lower"]
    assert found["operator"]["victims"][0]["session"] is None
    assert found["operator"]["victims"][0]["own_value"] == 5


def test_what_is_not_there_is_problem_json(world: worlds.World, client_of: ClientOf) -> None:
    """With a stable code and the request's id."""
    answer = client_of("outsider").get(urls.reverse("api:session-explanation", args=[world.victim.public_id]))

    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "not-found"
    assert answer.json()["request_id"] == answer["X-Request-ID"]
