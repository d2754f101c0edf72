"""Who sees which keypairs."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, errors
from scheduler.selectors import keypairs as visible
from scheduler.services import actors, keypairs
from tests import model_factories

pytestmark = pytest.mark.django_db


def _people():
    owner = model_factories.a_user(role="submitter", group=model_factories.a_group())
    row, _ = keypairs.issue(actors.of_user(owner), owner, keypairs.Wish(name="n"))
    return owner, row


def test_ones_own_are_seen_and_an_administrator_sees_all():
    owner, row = _people()

    assert [list(visible.visible(who)) for who in (owner, model_factories.an_administrator())] == [
        [row],
        [row],
    ]
    with pytest.raises(errors.NotVisible):
        visible.require(model_factories.a_user(), row.access_key)


def test_a_keypair_is_in_force_until_its_end_or_its_revocation():
    _, row = _people()
    now = clock.now()

    row.expires_at = now + datetime.timedelta(seconds=1)
    states = [visible.state(row, now), visible.state(row, row.expires_at)]
    row.is_active = False

    assert [*states, visible.state(row, now)] == ["in force", "over", "revoked"]
