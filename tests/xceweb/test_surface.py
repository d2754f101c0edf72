"""
P19: the web surface stays closed. Headers and cookies, methods, forms without token, and errors, of every address.

The addresses are those of the access table, so that none can be added without being asked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django import urls
from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from scheduler.selectors import navigation
from tests import worlds
from tests.xceweb import test_access
from xceweb.settings import production

pytestmark = pytest.mark.django_db

HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
POLICY = {
    "default-src 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
}
UNSAFE = ("POST", "DELETE")
#: The page that tries the API out styles itself; scripts it brings along.
MAY_STYLE = {"style-src 'self' 'unsafe-inline'"}
#: The console's theme evaluates strings and styles itself: for whom it opens, and nobody else (ECOSYSTEM B.5).
MAY_EVALUATE = {"script-src 'self' 'unsafe-eval'"}
#: Its form goes to itself, and leads on whoever is logged in.
LOG_IN = "accounts:login"
#: What an error must not tell: traces, files, and what the server is made of.
TELLTALE = re.compile(
    rb"Traceback|File \"|\.py\b|site-packages|/xceweb/|Django/|Python/|uvicorn|psycopg", re.IGNORECASE
)


def addresses(world: worlds.World) -> Iterator[tuple[str, str, test_access.Row]]:
    """Yield name, address and row of every line of the access table."""
    for name, row in test_access.TABLE.items():
        yield name, urls.reverse(name.partition(" ")[0], args=row.args(world)), row


def reads(name: str, row: test_access.Row) -> bool:
    """Say whether a line of the table is about reading."""
    return row.post is None and row.json is None and " " not in name


@pytest.mark.parametrize("who", ["anonymous", "administrator"])
def test_p19_every_answer_has_its_headers_and_its_cookies_are_closed(who: str) -> None:
    """Pages, fragments, JSON, errors and ways to the log-in alike."""
    world, client, faults = worlds.a_world(), Client(), []
    for name, address, row in [*addresses(world), ("nowhere", "/no/such/address/", test_access.Row(()))]:
        client.logout()
        if who in world.people:
            client.force_login(world.people[who])
        answer = client.get(address) if row.post is None else client.post(address, row.post)
        is_console = name.startswith("admin:") and who == "administrator"
        may = MAY_STYLE | MAY_EVALUATE if is_console else MAY_STYLE
        faults += [f"{name}: {fault}" for fault in _faults_of(answer, may)]

    assert faults == []


def _faults_of(answer: HttpResponse, may: set[str]) -> list[str]:
    found = [f"{name} is {answer.get(name)}" for name, value in HEADERS.items() if answer.get(name) != value]
    policy = {part.strip() for part in answer.get("Content-Security-Policy", "").split(";")}
    found += [f"the policy lacks {part}" for part in sorted(POLICY - policy)]
    found += [f"the policy allows {part}" for part in sorted(policy - may) if re.search(r"unsafe-|\*", part)]
    if not answer.get("X-Request-ID"):
        found.append("no request id")
    for cookie in answer.cookies.values():
        if not cookie.value:
            continue  # it is taken away
        is_closed = cookie["samesite"] in ("Lax", "Strict") and (cookie["httponly"] or "csrf" in cookie.key)
        found += [] if is_closed else [f"cookie {cookie.key} is open"]
    return found


@pytest.mark.parametrize(
    ("who", "address", "relaxed"),
    [
        ("administrator", "/admin/", MAY_STYLE | MAY_EVALUATE),
        ("administrator", "/admin/scheduler/queue/", MAY_STYLE | MAY_EVALUATE),
        ("administrator", "/admin/no/such/table/", set()),
        ("administrator", "/", set()),
        ("administrator", "/administrators/", set()),
        ("owner", "/admin/", set()),
        ("anonymous", "/admin/", set()),
    ],
)
def test_p19_the_policy_is_relaxed_in_the_console_alone(who: str, address: str, relaxed: set[str]) -> None:
    """By exactly what its theme needs, on pages that it draws, for those who may open it."""
    world, client = worlds.a_world(), Client()
    if who in world.people:
        client.force_login(world.people[who])

    policy = {part.strip() for part in client.get(address)["Content-Security-Policy"].split(";")}

    assert policy - POLICY == relaxed


def test_p19_an_address_that_is_read_takes_no_other_method() -> None:
    """405, for somebody who may do everything, and nothing is done."""
    world, client, faults = worlds.a_world(), Client(), []
    client.force_login(world.people["administrator"])
    changed = {name.partition(" ")[0] for name, row in test_access.TABLE.items() if not reads(name, row)}
    changed.add(LOG_IN)
    for name, address, _ in addresses(world):
        methods = () if name.partition(" ")[0] in changed else (*UNSAFE, "TRACE")
        for method in methods:
            with transaction.atomic():
                answer = client.generic(method, address)
                transaction.set_rollback(True)
            if answer.status_code not in (404, 405):
                faults.append(f"{method} {name}: {answer.status_code}")

    assert faults == []


def test_p19_what_changes_something_does_nothing_on_a_read() -> None:
    """405 for addresses that are posted to alone."""
    world, client = worlds.a_world(), Client()
    client.force_login(world.people["administrator"])
    lines = {name.partition(" ")[0]: [] for name in test_access.TABLE}
    for name, row in test_access.TABLE.items():
        lines[name.partition(" ")[0]].append(reads(name, row))
    posted = [
        (name, address) for name, address, _ in addresses(world) if not any(lines[name.partition(" ")[0]])
    ]

    found = {name: client.get(address).status_code for name, address in posted}

    assert posted
    assert {name: status for name, status in found.items() if status != 405} == {}


def test_p19_a_form_without_its_token_changes_nothing() -> None:
    """403, by cookie, on every address that changes something."""
    world, client, found = worlds.a_world(), Client(enforce_csrf_checks=True), {}
    for name, address, row in addresses(world):
        if reads(name, row):
            continue
        client.force_login(world.people["administrator"])
        method = name.partition(" ")[2] or "POST"
        found[name] = client.generic(method, address, "{}", content_type="application/json").status_code

    assert len(found) > 20
    assert {name: status for name, status in found.items() if status != 403} == {}


@pytest.mark.parametrize(
    "address", ["/", "/sessions/", "/api/v1/sessions", "/no/such/address/", "/api/v9/", "/events"]
)
@pytest.mark.parametrize("accepts", ["text/html", "application/json"])
def test_p19_no_error_tells_what_the_server_is_made_of(
    monkeypatch: pytest.MonkeyPatch, address: str, accepts: str
) -> None:
    """Neither a bug nor what is not there, nor what was sent wrong."""
    world, client = worlds.a_world(), Client(raise_request_exception=False, headers={"accept": accepts})
    client.force_login(world.people["owner"])

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug in /xceweb/secret.py")

    answers = [client.get(address, {"after": "x", "q": "state:nonsense"}), client.delete(address)]
    monkeypatch.setattr(navigation, "load", fail)
    answers.append(client.get(address))

    assert {answer.status_code // 100 for answer in answers} <= {2, 4, 5}
    assert [TELLTALE.findall(answer.content) for answer in answers if answer.status_code >= 400] == [
        []
    ] * len([answer for answer in answers if answer.status_code >= 400])
    assert all("Server" not in answer and "X-Powered-By" not in answer for answer in answers)


def test_p19_in_production_all_goes_over_tls() -> None:
    """Cookies of this host alone, and a year of HSTS."""
    assert (production.SECURE_SSL_REDIRECT, production.SECURE_HSTS_SECONDS >= 31_536_000) == (True, True)
    assert (production.SESSION_COOKIE_SECURE, production.CSRF_COOKIE_SECURE) == (True, True)
    assert production.SESSION_COOKIE_NAME.startswith("__Host-")
    assert production.CSRF_COOKIE_NAME.startswith("__Host-")
    assert production.DEBUG is False
