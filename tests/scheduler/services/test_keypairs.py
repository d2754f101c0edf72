"""Keypairs: who may have them, how they are recognised."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.services import actors, keypairs
from tests import model_factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    group = model_factories.a_group("gpu")
    return model_factories.a_user("alice", role="submitter", group=group)


def issued(person, **fields):
    return keypairs.issue(actors.of_user(person), person, keypairs.Wish(name="n", **fields))


def test_a_secret_is_kept_nowhere_and_recognised_by_its_hash(person):
    row, secret = issued(person)

    assert secret not in str(models.Keypair.objects.values().get())
    assert keypairs.recognise(row.access_key, secret) == row
    assert keypairs.recognise(row.access_key, secret + "x") is None
    assert keypairs.recognise("XCENOBODY", secret) is None


def test_a_refused_keypair_is_one_line_of_the_security_log(person, caplog):
    keypairs.recognise("XCE\nforged", "x")

    (line,) = [record for record in caplog.records if record.name == "xce.security"]
    assert "\n" not in line.getMessage()


def test_the_last_use_is_noted_at_most_each_minute(person, django_assert_num_queries):
    row, secret = issued(person)
    keypairs.recognise(row.access_key, secret)

    with django_assert_num_queries(2):  # the clock is a query, too
        keypairs.recognise(row.access_key, secret)
    assert models.Keypair.objects.get().last_used_at is not None


def test_one_person_has_so_many_keypairs(person, monkeypatch):
    monkeypatch.setattr(keypairs, "MOST_OF_ONE", 2)
    row, _ = issued(person)
    issued(person)

    with pytest.raises(errors.Refusal, match="revoke one first"):
        issued(person)
    keypairs.revoke(actors.of_user(person), row)
    issued(person)


def test_nobody_revokes_the_keypairs_of_others(person):
    row, _ = issued(person)
    other = model_factories.a_user("bob")

    with pytest.raises(errors.NotAllowed):
        keypairs.revoke(actors.of_user(other), row)
