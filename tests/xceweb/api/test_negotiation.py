"""In what an answer is written."""

from __future__ import annotations

import pytest
from django.test import Client


@pytest.mark.parametrize("accept", ["text/html", "image/png", "application/json", "*/*", "nonsense"])
def test_whatever_a_client_would_rather_have_it_gets_json(api_of, accept):
    api = api_of("owner")

    answer = api.client.get("/api/v1/me", headers={"Authorization": api.basic, "Accept": accept})

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


def test_where_there_is_a_choice_it_is_the_clients(db):
    kinds = [Client().get("/api/schema", headers={"Accept": accept})["Content-Type"] for accept in _ASKED]

    assert ["json" in kind for kind in kinds] == [True, False, False]


_ASKED = ("application/vnd.oai.openapi+json", "application/vnd.oai.openapi", "text/html")
