"""
Who gets which status at which address: every route of the product against every kind of person.

A route without a row fails, so that no page is added without saying who may open it (DESIGN section 9).
"""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django import urls
from django.db import transaction
from django.test import Client

from scheduler import models
from tests import worlds
from xceweb.admin import urls as admin

pytestmark = pytest.mark.django_db

Statuses = tuple[int, ...]
#: In the order of ``worlds.PEOPLE``: anonymous, viewer, owner, submitter, operator, manager, outsider, administrator.
EVERYBODY: Statuses = (200,) * 8
LOGGED_IN: Statuses = (302, 200, 200, 200, 200, 200, 200, 200)
GROUP: Statuses = (302, 200, 200, 200, 200, 200, 404, 200)
#: The same for programs: 401 instead of the way to the log-in page.
PROGRAM: Statuses = (401, *LOGGED_IN[1:])
PROGRAM_OF_GROUP: Statuses = (401, *GROUP[1:])
ACTING_ON_SESSION: Statuses = (302, 403, 302, 403, 302, 302, 404, 302)
ACTING_ON_NODE: Statuses = (302, 403, 403, 403, 302, 302, 404, 302)
PREVIEWING: Statuses = (302, 403, 403, 403, 200, 200, 404, 200)
MANAGING: Statuses = (302, 403, 403, 403, 403, 302, 404, 302)
CHANGING: Statuses = (302, 403, 403, 403, 403, 422, 404, 422)
UNDOING: Statuses = (302, 403, 403, 403, 403, 404, 404, 404)
API_MANAGING: Statuses = (401, 403, 403, 403, 403, 200, 404, 200)
API_OPERATING: Statuses = (401, 403, 403, 403, 200, 200, 404, 200)
API_ADMINISTERING: Statuses = (401, 403, 403, 403, 403, 403, 404, 428)
ADMINISTERING: Statuses = (302, 404, 404, 404, 404, 404, 404, 200)


@dataclasses.dataclass(frozen=True)
class Row:
    """One route: how it is asked, and what each person gets."""

    statuses: Statuses
    args: Callable[[worlds.World], list[Any]] = lambda world: []
    post: dict[str, str] | None = None
    json: dict[str, Any] | None = None  #: a body for the method that the name ends with, or POST


def _session(world: worlds.World) -> list[Any]:
    return [world.waiting.public_id]


def _nothing(world: worlds.World) -> list[Any]:
    return [uuid.UUID(int=7)]


def _group(world: worlds.World) -> list[Any]:
    return ["gpu"]


_RULES: dict[str, Any] = {"preemption": {"enabled": False}, "reason": "a test of rights"}
TABLE: dict[str, Row] = {
    "admin:app_list": Row(ADMINISTERING, lambda world: ["scheduler"]),
    "admin:index": Row(ADMINISTERING),
    "admin:jsi18n": Row(ADMINISTERING),
    "admin:search": Row(ADMINISTERING),
    # Of all tables alike (``TABLES`` below): this one stands for them where each row of this table is asked.
    "admin:scheduler_queue_change": Row(ADMINISTERING, lambda world: [world.queues["normal"].pk]),
    "admin:scheduler_queue_changelist": Row(ADMINISTERING),
    "admin:scheduler_queue_history": Row(ADMINISTERING, lambda world: [world.queues["normal"].pk]),
    "accounts:keypair-list": Row(LOGGED_IN),
    "accounts:keypair-list POST": Row((302, 403, 422, 422, 422, 422, 422, 422), post={}),
    "accounts:keypair-revoke": Row((302,) + (404,) * 7, lambda world: ["XCENOBODY"], {}),
    "accounts:login": Row((200, 302, 302, 302, 302, 302, 302, 302)),
    "accounts:logout": Row((302,) * 8, post={}),
    "api:decision-list": Row(PROGRAM),
    "api:decision-record": Row(PROGRAM_OF_GROUP, lambda world: [world.decision.public_id]),
    "api:decision-rerun": Row(PROGRAM_OF_GROUP, lambda world: [world.decision.public_id]),
    "api:event-list": Row(PROGRAM),
    "api:group": Row(PROGRAM_OF_GROUP, _group),
    "api:group-act": Row(API_MANAGING, lambda world: ["gpu", "stop-starting"], json={"reason": "a test"}),
    "api:group-cancel-planned": Row(
        (401, 403, 403, 403, 403, 400, 404, 400), _group, json={"reason": "a test"}
    ),
    "api:group-list": Row(PROGRAM),
    "api:group-policies": Row(PROGRAM_OF_GROUP, _group),
    "api:group-preemption": Row(PROGRAM_OF_GROUP, _group),
    "api:group-preemption PATCH": Row((401, 403, 403, 403, 403, 428, 404, 428), _group, json=_RULES),
    "api:group-preemption PUT": Row((401, 403, 403, 403, 403, 428, 404, 428), _group, json=_RULES),
    "api:group-preview": Row((401, 403, 403, 403, 200, 200, 404, 200), _group, json={}),
    "api:group-shadow-report": Row((401, 403, 403, 403, 404, 404, 404, 404), _group),
    "api:group-roles": Row(PROGRAM_OF_GROUP, _group),
    "api:group-rounds": Row(PROGRAM_OF_GROUP, _group),
    "api:group-undo": Row((401, 403, 403, 403, 403, 428, 404, 428), _group, json={"reason": "a test"}),
    "api:keypair": Row((401,) + (404,) * 7, lambda world: ["XCENOBODY"]),
    "api:keypair-list": Row(PROGRAM),
    "api:keypair-list POST": Row((401, 403, 201, 201, 201, 201, 201, 201), json={"name": "a test"}),
    "api:keypair-revoke": Row((401,) + (404,) * 7, lambda world: ["XCENOBODY"], json={}),
    "api:me": Row(PROGRAM),
    "api:node": Row(PROGRAM_OF_GROUP, lambda world: ["gpu-1"]),
    "api:node-act": Row(API_OPERATING, lambda world: ["gpu-1", "drain"], json={"reason": "a test"}),
    "api:node-list": Row(PROGRAM),
    "api:preemption-list": Row(PROGRAM),
    "api:queue": Row(PROGRAM_OF_GROUP, lambda world: ["normal"]),
    "api:queue PATCH": Row(API_ADMINISTERING, lambda world: ["normal"], json={"reason": "a test"}),
    "api:queue PUT": Row(API_ADMINISTERING, lambda world: ["normal"], json={"reason": "a test"}),
    "api:queue-remove": Row(API_ADMINISTERING, lambda world: ["normal"], json={"reason": "a test"}),
    "api:queue-list": Row(PROGRAM),
    "api:queue-order": Row(PROGRAM_OF_GROUP, lambda world: ["normal"]),
    "api:run-list": Row(PROGRAM),
    "api:session": Row(PROGRAM_OF_GROUP, _session),
    "api:session PATCH": Row((401, 403, 200, 403, 403, 403, 404, 200), _session, json={"job_priority": 11}),
    "api:session-act": Row(
        (401, 403, 200, 403, 200, 200, 404, 200), lambda world: [world.waiting.public_id, "hold"], json={}
    ),
    "api:session-counterfactuals": Row(PROGRAM_OF_GROUP, _session),
    "api:session-dry-run": Row((401,) + (400,) * 7, json={}),
    "api:session-explanation": Row(PROGRAM_OF_GROUP, _session),
    "api:session-list": Row(PROGRAM),
    "api:session-list POST": Row((401,) + (400,) * 7, json={}),
    "api:session-output": Row((401, 403, 200, 403, 403, 403, 404, 200), _session),
    "api:session-runs": Row((401, 403, 200, 403, 200, 200, 404, 200), _session),
    "api:session-timeline": Row(PROGRAM_OF_GROUP, _session),
    "api:view": Row((401,) + (404,) * 7, _nothing),
    "api:view DELETE": Row((401,) + (404,) * 7, _nothing, json={}),
    "api:view PATCH": Row((401,) + (404,) * 7, _nothing, json={"name": "a test"}),
    "api:view-list": Row(PROGRAM),
    "api:view-list POST": Row((401,) + (201,) * 7, json={"name": "a test", "query": "state:pending"}),
    "common:livez": Row(EVERYBODY),
    "common:navigation": Row(LOGGED_IN),
    "common:readyz": Row(EVERYBODY),
    "common:readyz-check": Row(EVERYBODY, lambda world: ["database"]),
    "common:theme": Row((302,) * 8, post={"theme": "dark"}),
    "common:version": Row(EVERYBODY),
    "console:group-policy": Row(GROUP, lambda world: ["gpu"]),
    "console:group-policy POST": Row(CHANGING, lambda world: ["gpu"], {"version": "1", "reason": ""}),
    "console:group-policy-cancel-planned": Row(MANAGING, lambda world: ["gpu"], {"reason": "a test"}),
    "console:group-policy-preview": Row(PREVIEWING, lambda world: ["gpu"], {"version": "1"}),
    "console:group-policy-undo": Row(UNDOING, lambda world: ["gpu", 1], {}),
    "console:group-roles": Row(GROUP, _group),
    "dashboard:decision-detail": Row(GROUP, lambda world: [world.decision.public_id]),
    "dashboard:decision-list": Row(LOGGED_IN),
    "dashboard:decision-rerun": Row(GROUP, lambda world: [world.decision.public_id], {}),
    "dashboard:first-steps": Row(ADMINISTERING),
    "dashboard:group-act": Row(
        MANAGING, lambda world: ["gpu", "stop-starting"], {"reason": "a test of rights"}
    ),
    "dashboard:group-detail": Row(GROUP, lambda world: ["gpu"]),
    "dashboard:node-act": Row(
        ACTING_ON_NODE, lambda world: ["gpu-1"], {"state": "draining", "reason": "test"}
    ),
    "console:announcement-end": Row((302,) + (404,) * 7, lambda world: [7], {}),
    "console:announcement-list": Row(ADMINISTERING),
    "console:announcement-list POST": Row((302,) + (404,) * 6 + (422,), post={}),
    "console:node-key-revoke": Row(
        (302, 404, 404, 404, 404, 404, 404, 302), lambda world: ["gpu-1", "no-such-key"], post={}
    ),
    "console:node-keys": Row(ADMINISTERING, lambda world: ["gpu-1"]),
    "console:node-keys POST": Row(ADMINISTERING, lambda world: ["gpu-1"], post={}),
    "dashboard:node-detail": Row(GROUP, lambda world: ["gpu-1"]),
    "dashboard:node-list": Row(LOGGED_IN),
    "dashboard:overview": Row(LOGGED_IN),
    "dashboard:queue-detail": Row(GROUP, lambda world: ["normal"]),
    "dashboard:queue-detail POST": Row(
        (302, 403, 403, 403, 403, 403, 404, 422), lambda world: ["normal"], {"version": "1"}
    ),
    "dashboard:queue-remove": Row(
        (302, 403, 403, 403, 403, 403, 404, 302), lambda world: ["normal"], {"reason": "a test"}
    ),
    "dashboard:queue-list": Row(LOGGED_IN),
    "dashboard:queue-list POST": Row((302, 403, 403, 403, 403, 403, 403, 422), post={}),
    "dashboard:session-act": Row(ACTING_ON_SESSION, lambda world: [world.waiting.public_id, "hold"], {}),
    "dashboard:session-bulk": Row((302,) * 8, lambda world: ["hold"], {}),
    "dashboard:session-detail": Row(GROUP, _session),
    "dashboard:session-dry-run": Row(LOGGED_IN, post={}),
    "dashboard:session-export": Row(LOGGED_IN, lambda world: ["csv"]),
    "dashboard:session-list": Row(LOGGED_IN),
    "dashboard:session-query-help": Row(LOGGED_IN),
    "dashboard:session-submit": Row(LOGGED_IN),
    "dashboard:session-submit POST": Row((302, 422, 422, 422, 422, 422, 422, 422), post={}),
    "dashboard:view-keep": Row((302,) * 8, post={"name": "a test", "q": "state:pending"}),
    "dashboard:view-remove": Row((302,) + (404,) * 7, _nothing, {}),
    "dashboard:session-tab": Row(GROUP, lambda world: [world.waiting.public_id, "timeline"]),
    "help:design": Row(LOGGED_IN),
    "help:reason": Row(LOGGED_IN, lambda world: ["held"]),
    "help:reasons": Row(LOGGED_IN),
    "live:event-list": Row(PROGRAM),
    "schema:docs": Row(EVERYBODY),
    "schema:openapi": Row(EVERYBODY),
}


#: Every table of the administrators' console has the same three addresses with the same rights.
TABLES = {
    f"admin:{model._meta.app_label}_{model._meta.model_name}_{what}"
    for model in admin.console._registry
    for what in ("change", "changelist", "history")
}


def _names(resolver: urls.URLResolver, space: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, urls.URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from _names(pattern, space + inner)
        else:
            yield f"{space}{pattern.name}"


def test_every_route_has_a_row() -> None:
    """Routes and rows are the same set."""
    routes = set(_names(urls.get_resolver("xceweb.urls")))

    assert routes == {name.partition(" ")[0] for name in TABLE} | TABLES


def test_the_tables_of_the_console_are_open_to_administrators_alone() -> None:
    """404 for whoever has the most of each kind of right, whether there is such a row or not."""
    world, client, found = worlds.a_world(), Client(headers={"accept": "application/json"}), {}
    for person in ("owner", "manager", "outsider"):
        client.force_login(world.people[person])
        for name in TABLES:
            args = [] if name.endswith("_changelist") else [1]
            found[person, name] = client.get(urls.reverse(name, args=args)).status_code

    assert len(TABLES) > 100
    assert {key: status for key, status in found.items() if status != 404} == {}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_person_gets_the_status_of_the_table(name: str) -> None:
    """Eight people ask the same address."""
    world, row = worlds.a_world(), TABLE[name]
    route, _, method = name.partition(" ")
    address = urls.reverse(route, args=row.args(world))

    client = Client()
    got = tuple(_ask(client, world.people.get(person), address, (row, method)) for person in worlds.PEOPLE)

    assert dict(zip(worlds.PEOPLE, row.statuses, strict=True)) == dict(zip(worlds.PEOPLE, got, strict=True))


def _ask(client: Client, user: models.User | None, address: str, how: tuple[Row, str]) -> int:
    row, method = how
    client.logout()
    if user is not None:
        client.force_login(user)
    if row.json is not None:
        with transaction.atomic():  # what one person does is undone for the next
            answer = client.generic(
                method or "POST", address, json.dumps(row.json), content_type="application/json"
            )
            transaction.set_rollback(True)
        return answer.status_code
    answer = client.get(address) if row.post is None else client.post(address, row.post)
    return answer.status_code
