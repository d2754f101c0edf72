"""A log-in stands only as long as the database says so."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from scheduler import models
from scheduler.services import actors, keypairs
from tests import model_factories
from xceweb.live import logins

pytestmark = pytest.mark.django_db


def log_in() -> tuple[models.User, str]:
    """Return a person and the key of the browser session."""
    user, client = model_factories.a_user(), Client()
    client.force_login(user)
    return user, client.cookies[settings.SESSION_COOKIE_NAME].value


def test_a_standing_log_in_gives_the_person() -> None:
    """Read anew, not from a cookie."""
    user, key = log_in()

    assert logins.current_user(key) == user


@pytest.mark.parametrize(("field", "value", "code"), [("is_active", False, 4403), ("password", "!", 4401)])
def test_an_ended_log_in_gives_its_close_code(field: str, value: object, code: int) -> None:
    """Deactivated is not the same as logged out."""
    user, key = log_in()
    models.User.objects.filter(pk=user.pk).update(**{field: value})

    with pytest.raises(logins.Ended) as ended:
        logins.current_user(key)

    assert ended.value.code == code


@pytest.mark.parametrize("key", [None, "", "unknown"])
def test_no_session_is_logged_out(key: str | None) -> None:
    """As after a logout."""
    with pytest.raises(logins.Ended):
        logins.current_user(key)


@pytest.mark.parametrize("how", ["revoked", "over", "deactivated", "gone"])
def test_a_keypair_opens_nothing_once_it_or_its_person_is_over(how: str) -> None:
    """Read anew each time."""
    user = model_factories.a_user()
    row, _ = keypairs.issue(actors.SYSTEM, user, keypairs.Wish(name="test"))
    before = logins.current_holder(row.pk)
    changes = {"revoked": {"is_active": False}, "over": {"expires_at": row.created_at}}
    models.Keypair.objects.filter(pk=row.pk).update(**changes.get(how, {"name": "other"}))
    models.User.objects.filter(pk=user.pk).update(is_active=how != "deactivated")

    with pytest.raises(logins.Ended) as ended:
        logins.current_holder(row.pk if how != "gone" else row.pk + 1)

    assert (before, ended.value.code) == (user, 4403 if how == "deactivated" else 4401)
