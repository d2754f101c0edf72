"""A filter by words that are known beforehand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from tests import model_factories, worlds
from xceweb.admin import filters
from xceweb.admin.listings import work


def test_it_is_called_as_its_column() -> None:
    """In words."""
    made = filters.words("result", ("success", "failure"))

    assert (made.title, made.parameter_name) == ("result", "result")


@pytest.mark.parametrize(("query", "names"), [("failure", {"bad"}), ("success", set()), ("nonsense", None)])
def test_sessions_are_narrowed_by_result(
    client_of: Callable[[str], Client], world: worlds.World, query: str, names: set[str] | None
) -> None:
    """A word that is none narrows nothing; all that there are can be chosen."""
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"]}
    model_factories.a_session(state="terminated", result="failure", name="bad", **fields)

    answer = client_of("administrator").get(
        urls.reverse("admin:scheduler_session_changelist"), {"result": query}
    )

    found = {row.name for row in answer.context["cl"].result_list}
    assert found == names if names is not None else len(found) > 1
    assert all(f"?result={word}" in answer.content.decode() for word in work._RESULTS)
