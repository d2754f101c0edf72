"""Who is not logged in."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
ID = "00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    "address", ["/events", f"/api/v1/decisions/{ID}", f"/api/v1/sessions/{ID}/explanation"]
)
def test_a_program_is_told_to_log_in_as_problem_json(address: str) -> None:
    """Whatever it accepts, and whether or not the thing exists."""
    answer = Client().get(address, headers={"accept": "text/html"})

    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert answer.json()["code"] == "not-logged-in"
    assert answer.json()["request_id"] == answer["X-Request-ID"]
    assert 'form-action="/accounts/login/"' in answer["WWW-Authenticate"]


def test_a_person_is_led_to_the_log_in_page_and_back() -> None:
    """With the address that was asked for."""
    answer = Client().get("/queues/?a=1", headers={"accept": "text/html"})

    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/queues/%3Fa%3D1")


def test_a_page_asked_for_as_json_is_a_program_too() -> None:
    """By what it accepts."""
    assert Client().get("/queues/", headers={"accept": "application/json"}).status_code == 401


def test_a_fragment_sends_its_page_to_the_log_in_and_back() -> None:
    """The log-in page is never put into a part of another page."""
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/queues/?a=1#b"}
    answer = Client().get("/queues/?part=queue_card", headers=headers)

    assert (answer.status_code, answer.content) == (401, b"")
    assert answer["HX-Redirect"] == "/accounts/login/?next=/queues/%3Fa%3D1"


def test_a_fragment_leads_nobody_to_another_site() -> None:
    """Only path and query of what it says are used."""
    headers = {"HX-Request": "true", "HX-Current-URL": "https://elsewhere.example/steal?x=1"}

    assert Client().get("/queues/", headers=headers)["HX-Redirect"] == "/accounts/login/?next=/steal%3Fx%3D1"
