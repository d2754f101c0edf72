"""Help and error pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client, RequestFactory

from scheduler.core import decisions
from tests import model_factories, worlds
from xceweb.common import reasons, views


@pytest.mark.django_db
def test_what_is_not_there_and_what_is_hidden_look_alike(client: Client) -> None:
    """The same page for both."""
    client.force_login(model_factories.a_user())

    missing = client.get("/groups/nowhere/")
    unknown = client.get("/no/such/address/")

    assert (missing.status_code, unknown.status_code) == (404, 404)
    assert b"or it is not yours to see" in missing.content
    assert b"or it is not yours to see" in unknown.content


def test_an_old_form_is_answered_with_the_way_on() -> None:
    """Not with a bare status."""
    request = RequestFactory().post("/")
    request.user = model_factories.models.User()

    answer = views.csrf_failure(request)

    assert (answer.status_code, b"reload the page" in answer.content) == (403, True)


def test_an_old_token_in_a_fragment_loads_the_page_anew() -> None:
    """Somebody logged in again in another tab; the page then has the new token."""
    request = RequestFactory().post("/", headers={"HX-Request": "true"})

    answer = views.csrf_failure(request)

    assert (answer.status_code, answer["HX-Refresh"]) == (403, "true")


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/api/", "/api/v1/nothing", "/api/v2/sessions"])
def test_a_program_that_asks_for_an_unknown_address_gets_problem_json(client: Client, address: str) -> None:
    """Logged in or not, whatever it accepts."""
    for headers in ({}, {"accept": "text/html"}):
        answer = client.get(address, headers=headers)

        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
        assert (answer.json()["code"], answer.json()["status"]) == ("not-found", 404)


@pytest.mark.parametrize(
    ("answer_of", "code"), [(views.csrf_failure, "csrf-failed"), (views.forbidden, "not-allowed")]
)
def test_a_program_that_is_refused_gets_problem_json(answer_of: Callable[..., Any], code: str) -> None:
    """Not a page."""
    answer = answer_of(RequestFactory().post("/api/v1/anything"), None)

    assert (answer.status_code, json.loads(answer.content)["code"]) == (403, code)


def test_the_glossary_has_every_code_once() -> None:
    """Each is a permalink."""
    found = [reason.code for part in reasons.parts() for reason in part.reasons]

    assert {*decisions.PendReason, *decisions.Verdict} <= set(found)
    assert len(found) == len(set(found))
    assert all(reason.meaning for part in reasons.parts() for reason in part.reasons)


def test_the_sidebar_follows_the_switch_and_the_submits(
    world: worlds.World, client_of: Callable[[str], Client]
) -> None:
    """The part that an open page fetches again, with its entry still marked."""
    client = client_of("owner")
    before = client.get("/navigation/?section=group:gpu").content.decode()
    model_factories.a_policy_version(world.group, preemption_state="shadow")
    model_factories.a_session(owner=world.people["owner"], queue=world.queues["normal"], group=world.group)

    after = client.get("/navigation/?section=group:gpu").content.decode()

    assert ('data-lamp="on"' in before, 'data-lamp="shadow"' in after) == (True, True)
    assert (before.count('<span class="count">3'), after.count('<span class="count">4')) == (2, 2)
    assert '/groups/gpu/" aria-current="page"' in after
