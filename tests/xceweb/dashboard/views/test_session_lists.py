"""The list of sessions by its addresses."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler.selectors import sessions
from tests import model_factories, worlds

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


def test_columns_and_density_are_kept_by_every_link(world: worlds.World, client_of: ClientOf) -> None:
    """Facets, pages and the form; the table has what was chosen."""
    text = client_of("owner").get(f"{LIST}?col=queue&rows=compact").content.decode()

    assert 'href="/sessions/?state=pending&amp;col=queue&amp;rows=compact"' in text
    assert '<input type="hidden" name="col" value="queue">' in text
    assert 'data-label="Queue"' in text
    assert "table--compact" in text
    assert 'data-label="Owner"' not in text


def test_rows_keep_their_places(world: worlds.World, client_of: ClientOf) -> None:
    """One that no longer passes is marked; newer ones are counted, and not put in front."""
    client = client_of("owner")
    shown = f"{world.running.public_id} {world.victim.public_id} nonsense"
    asked = {"state": "suspended", "part": "session_again", "shown": shown}
    newer = model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["normal"], group=world.group, state="suspended"
    )

    text = client.get(LIST, asked).content.decode()
    second = client.get(LIST, {**asked, "page": "2"}).content.decode()

    assert text.index("high-work") < text.index("no longer in this list") < text.index("low-work")
    assert text.count("no longer in this list") == 1
    assert "1 new session, show" in text
    assert str(newer.public_id) not in text
    assert "new session" not in second


def test_rows_of_a_query_that_cannot_be_read_are_those_that_are_shown(
    world: worlds.World, client_of: ClientOf
) -> None:
    """The page itself shows all then."""
    asked = {"q": "state:x", "part": "session_again", "shown": str(world.running.public_id)}

    assert "high-work" in client_of("owner").get(LIST, asked).content.decode()


def test_a_query_is_helped_along_while_it_is_typed(world: worlds.World, client_of: ClientOf) -> None:
    """As options of the field, which the browser shows."""
    answer = client_of("viewer").get(urls.reverse("dashboard:session-query-help"), {"q": "state:run"})

    assert '<option value="state:running">' in answer.content.decode()
