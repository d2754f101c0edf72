"""One's own keypairs on a page."""

from __future__ import annotations

import datetime
import html
import re

import pytest

from scheduler import clock, models
from scheduler.services import actors, keypairs
from tests.xceweb.api import clients

PAGE = "/accounts/keypairs/"


def test_the_secret_of_a_new_keypair_is_shown_once_and_opens_the_api(client_of):
    client = client_of("owner")

    made = client.post(PAGE, {"name": "pipeline", "scope": "read", "lasts": "7"}).content.decode()
    again = client.get(PAGE).content.decode()

    row = models.Keypair.objects.get(name="pipeline")
    secret = html.unescape(re.search(rf"{row.access_key}:([\w-]+)", made)[1])
    assert clients.Api(client, row, secret).get("/me").json()["scope"] == "read"
    assert row.access_key in again
    assert secret not in again
    assert datetime.timedelta(days=6.9) < row.expires_at - clock.now() < datetime.timedelta(days=7)


def test_one_that_never_ends_is_asked_for_in_so_many_words(client_of):
    client_of("owner").post(PAGE, {"name": "for ever", "scope": "full", "lasts": ""})

    assert models.Keypair.objects.get(name="for ever").expires_at is None


@pytest.mark.parametrize("sent", [{"name": ""}, {"name": "a\x07b"}, {"scope": "all"}, {"lasts": "-1"}])
def test_a_bad_wish_is_told_at_its_field_and_makes_none(client_of, sent):
    answer = client_of("owner").post(PAGE, {"name": "n", "scope": "read", "lasts": "7", **sent})

    assert (answer.status_code, models.Keypair.objects.count()) == (422, 0)
    assert f'id="id_{next(iter(sent))}_error"' in answer.content.decode()


def test_too_many_are_refused_in_words(client_of, monkeypatch):
    monkeypatch.setattr(keypairs, "MOST_OF_ONE", 0)

    answer = client_of("owner").post(PAGE, {"name": "n", "scope": "read", "lasts": "7"})

    assert (answer.status_code, "revoke one first" in answer.content.decode()) == (422, True)


def test_a_revoked_keypair_opens_nothing_and_says_so(client_of, api_of):
    api, client = api_of("owner"), client_of("owner")

    client.post(f"{PAGE}{api.keypair.access_key}/revoke/", {"reason": "the laptop was lost"})
    text = client.get(PAGE).content.decode()

    assert api.get("/me").status_code == 401
    assert "opens nothing any more" in text
    assert ("revoked" in text, 'data-opens="act-revoke' in text) == (True, False)
    assert models.ConfigChange.objects.first().reason == "the laptop was lost"


def test_others_keypairs_are_neither_shown_nor_revoked(client_of, api_of, world):
    other = api_of("owner").keypair
    client = client_of("manager")

    assert other.access_key not in client.get(PAGE).content.decode()
    assert client.post(f"{PAGE}{other.access_key}/revoke/", {}).status_code == 404
    assert models.Keypair.objects.get(pk=other.pk).is_active


def test_the_page_says_when_each_was_used_and_ends(client_of, world):
    owner = world.people["owner"]
    row, _ = keypairs.issue(actors.of_user(owner), owner, keypairs.Wish(name="n"))
    models.Keypair.objects.filter(pk=row.pk).update(
        last_used_at="2026-01-02T03:04:05Z", expires_at="2026-02-03T04:05:06Z"
    )

    text = client_of("owner").get(PAGE).content.decode()

    assert "2026-01-02T03:04" in text
    assert "2026-02-03T04:05" in text
    assert "over" in text


def test_who_may_only_look_is_told_why_there_is_no_form(client_of):
    assert "Who may submit to a group may have keypairs" in client_of("viewer").get(PAGE).content.decode()
