"""The list of sessions by its addresses."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler.selectors import sessions
from tests import worlds

ClientOf = Callable[[str], Client]
LIST = urls.reverse_lazy("dashboard:session-list")


def export(client: Client, query: str, kind: str = "json") -> list[dict[str, object]]:
    """Return a file's rows."""
    answer = client.get(f"{urls.reverse('dashboard:session-export', args=[kind])}?{query}")
    assert answer.status_code == 200
    return json.loads(b"".join(answer.streaming_content))


def test_a_file_holds_what_the_filters_show(
    world: worlds.World, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every page of it, whatever page was looked at."""
    monkeypatch.setattr(sessions, "PAGE", 1)
    monkeypatch.setattr(sessions, "BATCH", 1)
    client = client_of("owner")

    assert [row["name"] for row in export(client, "page=2")] == ["late-work", "high-work", "low-work"]
    assert [row["name"] for row in export(client, "state=pending&q=late")] == ["late-work"]
    assert export(client, "queue=urgent") == []


def test_a_file_that_cannot_be_asked_for(world: worlds.World, client_of: ClientOf) -> None:
    """A fault of the query is told on the list; another kind is not there."""
    client = client_of("owner")
    address = urls.reverse("dashboard:session-export", args=["csv"])

    answer = client.get(f"{address}?q=state:x")

    assert (answer.status_code, answer["Location"]) == (302, f"{LIST}?q=state%3Ax")
    assert "is none of" in client.get(answer["Location"]).content.decode()
    assert client.get(urls.reverse("dashboard:session-export", args=["exe"])).status_code == 404


def test_the_list_links_its_files_with_its_filters(world: worlds.World, client_of: ClientOf) -> None:
    """And the facets as a fragment of their own."""
    client = client_of("owner")

    text = client.get(f"{LIST}?state=pending&queue=normal").content.decode()
    part = client.get(f"{LIST}?state=pending&part=session_facets").content.decode()

    assert 'href="/sessions/export/csv/?state=pending&amp;queue=normal"' in text
    assert part.lstrip().startswith("<div")
    assert "Waits because" in part
