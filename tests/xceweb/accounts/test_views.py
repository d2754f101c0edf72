"""Signing in and out."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from scheduler import models
from scheduler.services import bells
from tests import model_factories
from xceweb.accounts import throttle

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_log_out_rings_once_the_log_in_is_gone(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets that look again find no log-in."""
    user = model_factories.a_user()
    client.force_login(user)
    found: list[Any] = []
    monkeypatch.setattr(bells, "ring_rights", lambda ids: found.append((ids, Session.objects.count())))

    answer = client.post("/accounts/logout/")

    assert (answer.status_code, found) == (302, [([user.pk], 0)])


def test_who_is_not_logged_in_rings_nobody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same."""
    monkeypatch.setattr(bells, "ring_rights", lambda ids: pytest.fail("rang"))

    assert client.post("/accounts/logout/").status_code == 302


LOG_IN = "/accounts/login/"


def test_the_fields_are_drawn_as_those_of_other_forms(client: Client) -> None:
    """Name and password."""
    assert client.get(LOG_IN).content.decode().count('class="input"') == 2


def try_in(client: Client, name: str, password: str, address: str = "192.0.2.1") -> Any:
    """Send the form from an address."""
    return client.post(LOG_IN, {"username": name, "password": password}, REMOTE_ADDR=address)


@pytest.fixture
def person() -> Any:
    """Somebody with a password; what is counted of him is forgotten afterwards."""
    name = f"person-{uuid.uuid4().hex}"
    yield models.User.objects.create_user(name, password="right-password")
    for address in ("192.0.2.1", "192.0.2.2"):
        throttle.succeeded(name, address)


def test_after_too_many_failures_one_has_to_wait(client: Client, person: models.User) -> None:
    """Even with the right password, from this address alone, and the page says how long."""
    name = person.username
    failures = [try_in(client, name, "wrong").status_code for _ in range(throttle.MOST_FAILURES)]

    refused = try_in(client, name.upper(), "right-password")

    assert set(failures) == {200}
    assert (refused.status_code, 0 < int(refused["Retry-After"]) <= throttle.WAIT_S) == (429, True)
    assert f"Try again in {refused['Retry-After']} s" in refused.content.decode()
    assert try_in(client, name, "right-password", "192.0.2.2").status_code == 302


def test_right_passwords_never_wait_and_forget_failures(client: Client, person: models.User) -> None:
    """However often somebody logs in."""
    for _ in range(2):
        for _ in range(throttle.MOST_FAILURES - 1):
            try_in(client, person.username, "wrong")
        assert try_in(client, person.username, "right-password").status_code == 302
        client.logout()


def test_an_empty_field_is_no_failure(client: Client, person: models.User) -> None:
    """Nothing was guessed."""
    for _ in range(throttle.MOST_FAILURES + 1):
        answer = try_in(client, person.username, "")

    assert answer.status_code == 200


def test_without_redis_people_log_in(client: Client, person: models.User, settings: Any) -> None:
    """The pages need the database alone."""
    settings.ENV = {**settings.ENV, "REDIS_URL": "redis://127.0.0.1:1/0"}

    assert try_in(client, person.username, "wrong").status_code == 200
    assert try_in(client, person.username, "right-password").status_code == 302
