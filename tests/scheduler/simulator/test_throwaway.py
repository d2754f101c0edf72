"""A database for a simulation alone."""

from __future__ import annotations

import contextlib

import psycopg
import pytest
from django.db import connection

from scheduler import models
from scheduler.simulator import throwaway


@pytest.mark.django_db(transaction=True)
def test_each_database_begins_empty_and_the_users_own_is_not_touched():
    models.Queue.objects.create(slug="mine")
    with contextlib.closing(throwaway.Maker()) as maker:
        for _ in range(2):
            with maker.database():
                assert connection.settings_dict["NAME"].startswith(throwaway.PREFIX)
                assert models.EventCounter.objects.get().last == 0
                assert not models.Queue.objects.exists()
                models.Queue.objects.create(slug="simulated")

    assert list(models.Queue.objects.values_list("slug", flat=True)) == ["mine"]


@pytest.mark.django_db(transaction=True)
def test_an_error_inside_leaves_no_database_behind(monkeypatch):
    monkeypatch.setattr(throwaway, "PREFIX", "xce_simulated_with_an_error_")
    maker = throwaway.Maker()
    with contextlib.closing(maker), pytest.raises(ZeroDivisionError), maker.database():
        1 / 0  # noqa: B018

    assert connection.settings_dict["NAME"] == maker.own_name
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [throwaway.PREFIX])
        assert cursor.fetchall() == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (psycopg.errors.InsufficientPrivilege(), "may not create one: ALTER ROLE"),
        (psycopg.OperationalError("no route"), "cannot be made: no route"),
    ],
)
def test_a_server_that_refuses_is_explained(monkeypatch, error, message):
    def refuse(**settings):
        raise error

    monkeypatch.setattr(psycopg, "connect", refuse)

    with pytest.raises(throwaway.CannotMake, match=message), throwaway.Maker().database():
        pass
