"""
A database for a simulation alone: made from the migrations beside the user's own, and dropped afterwards.

Nothing of the database that the process was started with is read or written. The role needs the right to create
databases (the embedded server's has it).
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator

import psycopg
from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from psycopg import sql

#: What the names of these databases begin with.
PREFIX = "xce_simulated_"
#: PostgreSQL itself waits five seconds at each try, but for its vacuum.
TRIES = 10
PAUSE_S = 1


class CannotMake(Exception):
    """The database could not be made; the text says why and what to do."""


class Maker:
    """Makes one empty database after the other; the first is built from the migrations, the others copy it."""

    def __init__(self) -> None:
        self._own = dict(connection.settings_dict)
        self.own_name: str = self._own["NAME"]
        self._template = ""

    def close(self) -> None:
        """Drop the template and connect to the user's own database again."""
        if self._template:
            self._drop(self._template)

    @contextlib.contextmanager
    def database(self) -> Iterator[None]:
        """Connect to an empty database of the present schema; it is dropped at the end."""
        if not self._template:
            self._template = self._create("")
            with self._connected(self._template):
                call_command("migrate", verbosity=0, interactive=False)
        name = self._create(self._template)
        try:
            with self._connected(name):
                yield
        finally:
            self._drop(name)

    def _create(self, template: str) -> str:
        name = f"{PREFIX}{secrets.token_hex(6)}"
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        if template:
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        self._execute(statement)
        return name

    def _drop(self, name: str) -> None:
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _execute(self, statement: sql.Composable) -> None:
        """Run one statement outside any transaction, over a connection of its own."""
        keys = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
        where = {name: self._own[key] for key, name in keys.items() if self._own[key]}
        options = {key: value for key, value in self._own["OPTIONS"].items() if key != "pool"}
        try:
            with psycopg.connect(autocommit=True, **where, **options) as own:
                _patiently(own, statement)
        except psycopg.errors.InsufficientPrivilege:
            text = "a simulation runs in a database of its own, and this role may not create one"
            raise CannotMake(f"{text}: ALTER ROLE ... CREATEDB") from None
        except psycopg.Error as error:
            raise CannotMake(f"the database of a simulation cannot be made: {error}") from None

    @contextlib.contextmanager
    def _connected(self, name: str) -> Iterator[None]:
        """Let every thread of this process connect to another database, without a pool, for a while."""
        settings = connections.settings["default"]
        before = {key: settings[key] for key in ("NAME", "OPTIONS")}
        options = {key: value for key, value in before["OPTIONS"].items() if key != "pool"}
        _disconnect()
        settings.update(NAME=name, OPTIONS=options)
        connection.settings_dict.update(NAME=name, OPTIONS=options)
        try:
            yield
        finally:
            _disconnect()
            settings.update(before)
            connection.settings_dict.update(before)


def _patiently(own: psycopg.Connection, statement: sql.Composable) -> None:
    """
    Run a statement, again while the database is in use.

    One who was just sent away takes long to leave on a busy host, and PostgreSQL's own vacuum, which only a superuser
    may send away, answers as a missing right.
    """
    for _ in range(TRIES - 1):
        try:
            own.execute(statement)
        except psycopg.errors.ObjectInUse:
            continue
        except psycopg.errors.InsufficientPrivilege as error:
            if "terminate" not in str(error):
                raise
            time.sleep(PAUSE_S)
            continue
        return
    own.execute(statement)


def _disconnect() -> None:
    with contextlib.suppress(DatabaseError):
        connection.close()
    if hasattr(connection, "close_pool"):
        connection.close_pool()
