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


class Busy:
    """A connection whose database somebody else is still in, for some tries."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def execute(self, statement: object) -> None:
        """Fail as long as somebody is there."""
        if self.errors:
            raise self.errors.pop(0)


VACUUM = psycopg.errors.InsufficientPrivilege("permission denied to terminate process")


def test_a_database_in_use_is_asked_for_again(monkeypatch):
    monkeypatch.setattr(throwaway, "PAUSE_S", 0)
    busy = Busy(VACUUM, psycopg.errors.ObjectInUse("being accessed by other users"), VACUUM)

    throwaway._patiently(busy, "DROP DATABASE x")

    assert busy.errors == []


def test_a_right_that_is_missing_is_said_at_once():
    busy = Busy(psycopg.errors.InsufficientPrivilege("permission denied to create database"), VACUUM)

    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="create"):
        throwaway._patiently(busy, "CREATE DATABASE x")

    assert busy.errors == [VACUUM]
