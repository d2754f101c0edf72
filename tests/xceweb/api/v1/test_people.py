"""Who asks, and keypairs by API."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from scheduler import models
from scheduler.services import actors, people
from tests.xceweb.api import clients
from xceweb.api.v1 import person_shapes


def test_who_asks_is_told_what_they_may_do(api_of):
    found = api_of("operator", scope="read").get("/me").json()

    assert (found["username"], found["roles"], found["scope"]) == ("operator", {"gpu": "operator"}, "read")


def test_a_keypair_is_issued_once_shown_and_revoked(api_of):
    api = api_of("owner")

    made = api.post("/keypairs", {"name": "pipeline", "scope": "read"})
    other = clients.Api(api.client, models.Keypair.objects.get(name="pipeline"), made.json()["secret"])
    is_open = other.get("/me").status_code
    ended = api.post(f"/keypairs/{other.keypair.access_key}/revoke", {"reason": "lost"})

    clients.assert_like(person_shapes.NewKeypair, made.json())
    assert (made.status_code, is_open, ended.json()["is_active"], other.get("/me").status_code) == (
        201,
        200,
        False,
        401,
    )
    assert made.json()["secret"] not in api.get("/keypairs").content.decode()
    assert models.ConfigChange.objects.filter(object_type="keypair").count() == 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\tb"}, "name"),
        ({"name": "n", "scope": "everything"}, "scope"),
        ({"name": "n", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "n", "expires_at": "soon"}, "expires_at"),
        ({"name": "n", "owner": "x"}, "owner"),
    ],
)
def test_a_bad_wish_is_refused_with_what_is_wrong(api_of, body, field):
    answer = api_of("owner").post("/keypairs", body)

    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])


def test_only_an_administrator_makes_keypairs_for_others_and_with_policies(api_of, world):
    people.create_resource_policy(actors.SYSTEM, "narrow", max_priority=5)
    wish = {"name": "n", "user": "olivia", "policy": "narrow"}

    assert api_of("manager").post("/keypairs", wish).status_code == 403
    assert api_of("owner").post("/keypairs", {"name": "n", "policy": "narrow"}).status_code == 403
    made = api_of("administrator").post("/keypairs", wish).json()
    assert (made["user"], made["policy"]) == ("olivia", "narrow")
    assert api_of("administrator").post("/keypairs", {**wish, "user": "nobody"}).json()["fields"].keys() == {
        "user"
    }
    assert api_of("administrator").post("/keypairs", {**wish, "policy": "none"}).json()["fields"].keys() == {
        "policy"
    }


def test_a_keypair_makes_none_that_may_ask_for_more_than_itself(api_of):
    narrow = people.create_resource_policy(actors.SYSTEM, "narrow", max_priority=5)

    made = api_of("owner", policy=narrow).post("/keypairs", {"name": "n"})

    assert (made.status_code, made.json()["policy"]) == (201, "narrow")


def test_a_keypair_makes_none_that_outlives_it(api_of):
    ends = timezone.now() + datetime.timedelta(hours=1)
    api = api_of("owner", expires_at=ends)

    silent = api.post("/keypairs", {"name": "n"})
    shorter = api.post(
        "/keypairs", {"name": "n", "expires_at": (ends - datetime.timedelta(minutes=1)).isoformat()}
    )
    longer = api.post(
        "/keypairs", {"name": "n", "expires_at": (ends + datetime.timedelta(seconds=1)).isoformat()}
    )

    assert datetime.datetime.fromisoformat(silent.json()["expires_at"]) == ends
    assert (shorter.status_code, longer.status_code) == (201, 400)
    assert "when the keypair that asks ends itself" in longer.json()["fields"]["expires_at"]


def test_keypairs_of_others_are_not_there(api_of):
    other, api = api_of("owner"), api_of("manager")

    assert api.get(f"/keypairs/{other.keypair.access_key}").status_code == 404
    assert api.post(f"/keypairs/{other.keypair.access_key}/revoke").status_code == 404
    assert api_of("administrator").get(f"/keypairs/{other.keypair.access_key}").status_code == 200


def test_a_viewer_has_no_keypairs_of_their_own_making(api_of):
    assert api_of("viewer").post("/keypairs", {"name": "n"}).status_code == 403


def test_a_keypair_ends_when_it_says(api_of):
    ends = (timezone.now() + datetime.timedelta(days=1)).isoformat()

    assert (
        api_of("owner").post("/keypairs", {"name": "n", "expires_at": ends}).json()["expires_at"] is not None
    )
