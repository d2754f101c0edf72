"""Servers and a database of their own for benchmarks: made in a temporary directory, durable, gone afterwards."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator

from xceweb.stack import embedded


@contextlib.contextmanager
def database(*, throwaway: bool = False) -> Iterator[None]:
    """
    Run PostgreSQL with the project's tables, and set Django up on it, until the end of the block.

    What the environment names as servers is left alone: no benchmark writes into data that somebody needs.

    Args:
        throwaway: faster than a real one, for tests.
    """
    named = {name: os.environ.pop(name) for name in embedded.EXTERNAL if name in os.environ}
    try:
        with tempfile.TemporaryDirectory(prefix="xce-bench-") as place:
            pathlib.Path(place).chmod(0o755)
            with embedded.running(pathlib.Path(place) / "data", throwaway=throwaway) as env:
                os.environ.update(env)
                _set_up()
                yield
                _hang_up()
    finally:
        os.environ.update(named)


def _set_up() -> None:
    import django
    from django.core.management import call_command

    os.environ.setdefault("XCE_LOG_LEVEL", "WARNING")
    django.setup()
    call_command("migrate", verbosity=0)


def _hang_up() -> None:
    from django.db import connections

    connections.close_all()
    for connection in connections.all():
        connection.close_pool()
