"""How a view becomes a page: noted number, no caching, and parts that exist."""

from __future__ import annotations

import pytest
from django import http
from django.test import RequestFactory

from scheduler import models
from tests import model_factories
from xceweb.common import pages


def _request(path: str, user: models.User | None = None) -> http.HttpRequest:
    request = RequestFactory().get(path)
    if user is not None:
        request.user = user
    return request


def test_the_whole_page_is_asked_for_without_a_part() -> None:
    """No parameter, no fragment."""
    assert pages.part_of(_request("/"), ["rows"]) == ""
    assert pages.part_of(_request("/?part=rows"), ["rows"]) == "rows"


def test_a_part_that_the_page_does_not_have_is_not_there() -> None:
    """404, not the whole page."""
    with pytest.raises(http.Http404):
        pages.part_of(_request("/?part=../secret"), ["rows"])


@pytest.mark.django_db
def test_a_page_notes_the_newest_number_before_it_reads_and_is_not_cached() -> None:
    """What happens while the page is made comes over the stream."""
    user = model_factories.a_user("ada")
    model_factories.an_event("node.added")
    seen: list[int] = []

    def view(request: http.HttpRequest) -> http.HttpResponse:
        seen.append(request.live_number)
        model_factories.an_event("node.added")
        return http.HttpResponse("ok")

    answer = pages.page(view)(_request("/", user))

    assert seen == [1]
    assert answer["Cache-Control"] == "no-store"
    assert "Cookie" in answer["Vary"]
