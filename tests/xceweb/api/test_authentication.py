"""Who asks, by keypair or cookie."""

from __future__ import annotations

import datetime

import pytest
from django.test import Client

from scheduler import clock, models
from scheduler.services import actors, keypairs


def test_a_keypair_is_taken_as_basic_and_as_bearer(api_of):
    api = api_of("owner")
    bearer = f"Bearer {api.keypair.access_key}:{api.secret}"

    assert api.get("/me").json()["username"] == "olivia"
    assert (
        Client().get("/api/v1/me", headers={"Authorization": bearer}).json()["keypair"]
        == api.keypair.access_key
    )


@pytest.mark.parametrize(
    "header",
    ["Basic !", "Basic eA==", "Bearer x", "Bearer XCE:wrong", "Bearer :", "Basic " + "QQ" * 5000],
)
def test_what_is_no_keypair_is_refused_and_says_how_to_send_one(world, header):
    answer = Client().get("/api/v1/me", headers={"Authorization": header})

    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert "Send a keypair" in answer.json()["detail"]
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_right_access_key_with_a_wrong_secret_opens_nothing(api_of):
    api = api_of("owner")
    api.secret += "x"

    assert api.get("/me").status_code == 401


def test_a_keypair_ends_with_its_revocation_its_time_and_its_person(api_of, world):
    one, other, third = api_of("owner"), api_of("operator"), api_of("manager")
    keypairs.revoke(actors.of_user(world.people["owner"]), one.keypair)
    models.Keypair.objects.filter(pk=other.keypair.pk).update(
        expires_at=clock.now() - datetime.timedelta(seconds=1)
    )
    models.User.objects.filter(pk=world.people["manager"].pk).update(is_active=False)

    assert [api.get("/me").status_code for api in (one, other, third)] == [401, 401, 401]


def test_a_cookie_changes_something_only_with_the_token_of_its_page(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people["owner"])
    address = f"/api/v1/sessions/{world.waiting.public_id}/hold"

    answer = client.post(address, {}, content_type="application/json")

    assert client.get("/api/v1/me").status_code == 200
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")


def test_nobody_is_asked_to_log_in_as_json(world):
    answer = Client().get("/api/v1/me")

    assert (answer.status_code, answer.json()["code"]) == (401, "not-logged-in")
