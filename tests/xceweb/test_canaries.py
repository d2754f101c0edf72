"""
No way out tells what is not for the reader: every address that can be asked, the socket, and the log (DESIGN 9, P06).

Driven by the list of all routes, so that a page or operation that is added is asked too; a parameter of a new kind
fails until it is said here what it can be.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import time_machine
from django import urls
from django.core.handlers import wsgi
from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from scheduler import clock
from scheduler.selectors import saved_views
from tests import canaries, worlds
from tests.xceweb import test_access
from xceweb.common import pages
from xceweb.dashboard.views import sessions as session_pages

MARK = "quokka"
ABSENT = "wombat"
#: person -> what they must never be given: with a summary the mark, and who operates what is behind ``hidden``.
FORBIDDEN = {
    "viewer": MARK,
    "submitter": MARK,
    "outsider": MARK,
    "operator": f"{MARK}-hidden",
    "manager": f"{MARK}-hidden",
}
_LIKE_ANOTHER = ("viewer", "manager")  #: see what a submitter or an operator sees: asked at night alone
READERS = [
    pytest.param(name, marks=pytest.mark.night) if name in _LIKE_ANOTHER else name for name in FORBIDDEN
]
#: What a list is searched for; a search must not tell what a page hides.
QUERIES = (f"q={MARK}", f"q=name:{MARK}&count=1", f"q=user:{MARK}-user&count=1", f"user={MARK}-user&count=1")


@dataclasses.dataclass(frozen=True)
class Route:
    """One address with the names of its parts."""

    name: str
    parts: tuple[str, ...]


def _routes(resolver: urls.URLResolver, space: str = "") -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, urls.URLResolver):
            yield from _routes(pattern, f"{space}{pattern.namespace}:" if pattern.namespace else space)
        else:
            yield Route(f"{space}{pattern.name}", tuple(pattern.pattern.converters))


#: Of the console's tables the one that the access table has stands for all: whoever may not look there is told nothing
#: before anything is read (``test_access.test_the_tables_of_the_console_are_open_to_administrators_alone``).
ROUTES = [
    route
    for route in _routes(urls.get_resolver("xceweb.urls"))
    if route.name in test_access.TABLE or route.name not in test_access.TABLES
]
Values = Mapping[str, list[Any]]
#: The parts of addresses by which something is found, and may be hidden.
_FIRST = (
    "session public_id",
    "decision public_id",
    "group slug",
    "queue slug",
    "node name",
    "keypair access_key",
    "view public_id",
)


@pytest.fixture
def planted(world: worlds.World, settings: Any) -> canaries.Planted:
    """Somebody else with everything that is theirs; whoever asks may ask as often as they like."""
    settings.API_REQUESTS_PER_MINUTE = 0
    return canaries.plant(world, MARK)


def _values(planted: canaries.Planted) -> Values:
    """Return what each part of an address can be: all that is the other person's, the private session too."""
    _, waiting, _, victim, ended = planted.sessions
    return {
        "session public_id": [one.public_id for one in (waiting, victim, ended, planted.private)],
        "decision public_id": [planted.decision.public_id],
        "group slug": ["gpu"],
        "queue slug": ["normal"],
        "node name": ["gpu-1"],
        "keypair access_key": [planted.keypair.access_key],
        "view public_id": list(saved_views.of(planted.person).values_list("public_id", flat=True)),
        "session tab": list(session_pages.TABS),
        "session action": ["hold"],
        "session kind": ["csv", "json"],
        "node action": ["drain"],
        "group action": ["stop-starting"],
        "group verb": ["stop-starting"],
        "group version": [1],
        "reason code": ["held"],
        "readyz name": ["database"],
        "node key_id": ["k0"],
        "announcement number": [1],
        "app_list app_label": ["scheduler"],
        "scheduler_queue_change object_id": [planted.sessions[0].queue_id],
        "scheduler_queue_history object_id": [planted.sessions[0].queue_id],
    }


def _addresses(route: Route, values: Values) -> list[str]:
    """Return every address of a route; KeyError = say above what its parts can be."""
    kind = re.split("[-:]", route.name)[1]
    choices = itertools.product(*(values[f"{kind} {part}"] for part in route.parts))
    return [urls.reverse(route.name, args=chosen) for chosen in choices]


@pytest.mark.parametrize("person", READERS)
def test_p06_no_address_tells_what_is_not_for_its_reader(planted, client_of, caplog, monkeypatch, person):
    client, told, parts = client_of(person), [], _noted_parts(monkeypatch)
    caplog.set_level(logging.INFO)
    for route in ROUTES:
        for address in _addresses(route, _values(planted)):
            parts.clear()
            answers = [client.get(address), *(client.get(f"{address}?part={one}") for one in list(parts))]
            answers += [_send(client, row, address) for row in _bodies(route.name)]
            told += [address for answer in answers if _tells(answer, person, planted)]

    assert told == []
    assert FORBIDDEN[person] not in caplog.text


def _noted_parts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note of which parts a page that is asked for says that it has them."""
    noted: list[str] = []

    def part_of(request: wsgi.WSGIRequest, parts: list[str]) -> str:
        noted.extend(parts)
        return original(request, parts)

    original = pages.part_of
    monkeypatch.setattr(pages, "part_of", part_of)
    return noted


def _bodies(name: str) -> list[tuple[str, test_access.Row]]:
    """Return what else is sent to a route: method and body, as the access table has them."""
    rows = [(key.partition(" ")[2], row) for key, row in test_access.TABLE.items() if key.split()[0] == name]
    return [(method, row) for method, row in rows if row.post is not None or row.json is not None]


def _send(client: Client, what: tuple[str, test_access.Row], address: str) -> HttpResponse:
    method, row = what
    with transaction.atomic():
        if row.json is None:
            answer = client.post(address, row.post)
        else:
            kind = "application/json"
            answer = client.generic(method or "POST", address, json.dumps(row.json), content_type=kind)
        transaction.set_rollback(True)
    return answer


def _tells(answer: HttpResponse, person: str, planted: canaries.Planted) -> bool:
    assert answer.status_code != 500, answer.wsgi_request.path
    private = str(planted.private.public_id)
    text = _text(answer).replace(answer.wsgi_request.get_full_path(), "")
    return FORBIDDEN[person] in text or (person != "manager" and private in text)


def _text(answer: HttpResponse) -> str:
    body = b"".join(answer) if answer.streaming else answer.content
    return f"{dict(answer.headers)}\n{body.decode()}"


@pytest.fixture
def still(planted: canaries.Planted) -> Iterator[canaries.Planted]:
    """The same while no time passes, so that two answers can be compared."""
    with clock.virtual(clock.Virtual(clock.now())), time_machine.travel(clock.now(), tick=False):
        yield planted


@pytest.mark.parametrize("person", ["submitter", "outsider"])
def test_p06_a_search_for_what_is_hidden_finds_as_much_as_one_for_nothing(still, client_of, person):
    client = client_of(person)
    lists = [urls.reverse(route.name) for route in ROUTES if route.name.endswith("-list")]
    for address, query in itertools.product(lists, QUERIES):
        hidden = client.get(f"{address}?{query}")
        nothing = client.get(f"{address}?{query.replace(MARK, ABSENT)}")

        assert _plain(hidden, MARK) == _plain(nothing, ABSENT), (address, query)


@pytest.mark.parametrize("person", ["submitter", "operator", "outsider"])
def test_p06_what_is_hidden_and_what_is_not_there_are_answered_alike(still, client_of, person):
    client, hidden = client_of(person), _hidden_from(person, still)
    nothing = _others(still) | _of_nobody()
    for route in ROUTES:
        if not route.parts or not _is_hidden(route, hidden):
            continue
        pairs = zip(_addresses(route, hidden), _addresses(route, nothing), strict=True)
        for there, absent in pairs:
            one, other = client.get(there), client.get(absent)
            assert one.status_code == other.status_code, there
            assert _plain(one, there) == _plain(other, absent), there


def _is_hidden(route: Route, hidden: Values) -> bool:
    kind = re.split("[-:]", route.name)[1]
    return f"{kind} {route.parts[0]}" in hidden


def _hidden_from(person: str, planted: canaries.Planted) -> Values:
    """Return parts of addresses that lead to what a person may not see."""
    hidden: dict[str, list[Any]] = {"session public_id": [planted.private.public_id]}
    hidden |= {name: _values(planted)[name] for name in ("keypair access_key", "view public_id")}
    if person == "outsider":
        ours = ("decision public_id", "group slug", "queue slug", "node name")
        hidden |= {name: _values(planted)[name] for name in ours}
    return hidden | _others(planted)


def _others(planted: canaries.Planted) -> Values:
    return {name: value for name, value in _values(planted).items() if name not in _FIRST}


def _of_nobody() -> Values:
    nobody = uuid.UUID(int=7)
    found = {
        "session public_id": [nobody],
        "decision public_id": [nobody],
        "view public_id": [nobody],
        "keypair access_key": ["XCENOBODY"],
    }
    return {**found, "group slug": [ABSENT], "queue slug": [ABSENT], "node name": [ABSENT]}


def _plain(answer: HttpResponse, asked: str) -> str:
    """Return an answer without what was asked, and without what is new in each answer."""
    text = re.sub("'Content-Length': '[0-9]+'", "", f"{answer.status_code} {_text(answer)}").replace(
        asked, ""
    )
    text = re.sub(
        r'csrfmiddlewaretoken" value="\w+"|csrf-token" content="\w+"|"X-CSRFToken": "\w+"', "", text
    )
    return re.sub(r"[0-9a-f]{32}|[0-9a-f-]{36}", "", text)
