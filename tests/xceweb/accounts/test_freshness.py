"""How long ago a person proved who they are."""

from __future__ import annotations

import datetime

import pytest
from django import http
from django.test import Client, RequestFactory

from scheduler import clock
from tests import model_factories, worlds
from xceweb.accounts import freshness, throttle


@pytest.fixture
def request_(world: worlds.World, monkeypatch: pytest.MonkeyPatch) -> http.HttpRequest:
    """A request of the manager, who has just logged in."""
    counted: list[str] = []
    monkeypatch.setattr(throttle, "wait_s", lambda account, address: 60 if len(counted) > 1 else 0)
    monkeypatch.setattr(throttle, "failed", lambda account, address: counted.append(account))
    monkeypatch.setattr(throttle, "succeeded", lambda account, address: counted.clear())
    client = Client()
    client.force_login(world.people["manager"])
    request = RequestFactory().get("/")
    request.session, request.user = client.session, world.people["manager"]
    return request


def _age(request: http.HttpRequest, minutes: int) -> None:
    moment = clock.now() - datetime.timedelta(minutes=minutes, seconds=1)
    request.session[freshness._KEY] = moment.isoformat()


def test_every_log_in_is_stamped_and_grows_old(request_: http.HttpRequest) -> None:
    """Whatever it was made with."""
    assert freshness.is_fresh(request_)

    _age(request_, 30)

    assert not freshness.is_fresh(request_)


def test_a_log_in_without_a_stamp_is_old(request_: http.HttpRequest) -> None:
    """One that was made before there were stamps."""
    del request_.session[freshness._KEY]

    assert not freshness.is_fresh(request_)


def test_an_installation_that_never_asks(request_: http.HttpRequest, settings: object) -> None:
    """Zero minutes."""
    settings.FRESH_LOG_IN_MINUTES = 0  # type: ignore[attr-defined]
    _age(request_, 9_999)

    assert freshness.is_fresh(request_)


def test_the_password_makes_it_fresh_and_wrong_ones_are_slowed_down(request_: http.HttpRequest) -> None:
    """As at the log-in."""
    _age(request_, 99)

    assert freshness.prove(request_, "wrong") == "That is not your password."
    assert not freshness.is_fresh(request_)
    assert freshness.prove(request_, model_factories.PASSWORD) == ""
    assert freshness.is_fresh(request_)

    told = [freshness.prove(request_, "wrong") for _ in range(3)]
    assert told[-1] == "Too many failed tries: wait 60 s."
