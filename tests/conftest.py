"""What every test with a database starts from."""

from __future__ import annotations

import pytest

from tests import model_factories


@pytest.fixture(autouse=True)
def _first_rows(request: pytest.FixtureRequest) -> None:
    """Put the rows of the migrations back: a test with real commits ends by emptying every table."""
    asks = {"db", "transactional_db"} & set(request.fixturenames)
    marker = request.node.get_closest_marker("django_db")
    if not asks and marker is None:
        return
    is_committing = "transactional_db" in asks or bool(marker and marker.kwargs.get("transaction"))
    request.getfixturevalue("transactional_db" if is_committing else "db")
    model_factories.first_rows()
