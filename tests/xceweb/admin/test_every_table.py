"""
Every table in the console, by the list of all models: it opens, it is searched, it changes nothing, it stays cheap.

A model that comes later is asked here without a line for it, but for a row in ``rows.fill``.
"""

from __future__ import annotations

from typing import Any
from urllib import parse

import pytest
from django import urls
from django.apps import apps
from django.db import connection
from django.db import models as django_models
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scheduler import models
from tests import worlds
from tests.xceweb.admin import rows
from xceweb.admin import urls as console_urls

pytestmark = pytest.mark.django_db
console = console_urls.console
Model = type[django_models.Model]

#: Tables that nobody can look at, and why.
LEFT_OUT = {
    "sessions.Session": "its key is the log-in itself: who reads it is that person",
    "auth.Permission": "the product asks roles in groups, never Django's permissions",
    "contenttypes.ContentType": "a list of Django's own tables",
    "admin.LogEntry": "nothing is written through the console; what is written stands in the audit",
}
WRITES = ("POST", "PUT", "PATCH", "DELETE", "TRACE")


def tables() -> list[Model]:
    """Return every model that the console shows."""
    return list(console._registry)


def addresses(model: Model) -> dict[str, str]:
    """Return list, one row and its history."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    row = model._default_manager.order_by("pk").last()
    assert row is not None, f"rows.fill makes no {model.__name__}"
    return {
        "list": urls.reverse(f"{name}_changelist"),
        "row": urls.reverse(f"{name}_change", args=[row.pk]),
        "history": urls.reverse(f"{name}_history", args=[row.pk]),
    }


@pytest.fixture
def world(db: None) -> worlds.World:
    """The cluster with a row in every table."""
    return rows.fill()


@pytest.fixture
def client(world: worlds.World) -> Client:
    """An administrator's."""
    client = Client()
    client.force_login(world.people["administrator"])
    return client


def test_every_model_is_registered_or_has_its_reason() -> None:
    """Of all installed applications."""
    known = {model._meta.label for model in apps.get_models()}

    assert known - {model._meta.label for model in tables()} == set(LEFT_OUT)


def test_every_page_opens_for_few_queries_and_tells_no_secret(client: Client) -> None:
    """List, row and history of every table; a row costs one query for each row that it names."""
    faults = []
    for model in tables():
        named = [field for field in model._meta.get_fields() if field.many_to_one or field.one_to_one]
        most = 8 + 2 * len(named) + 2 * len(model._meta.many_to_many)
        for what, address in addresses(model).items():
            with CaptureQueriesContext(connection) as queries:
                answer = client.get(address)
            told = [secret for secret in rows.SECRETS if secret in answer.content.decode()]
            if answer.status_code != 200 or told or len(queries) > most:
                faults.append(f"{model.__name__} {what}: {answer.status_code} {told} {len(queries)} queries")

    assert faults == []


def test_every_search_and_every_filter_answers(rf: Any, world: worlds.World) -> None:
    """Whatever is typed is no error; words that no row has leave none, and each choice of a filter opens."""
    for model in tables():
        registered = console._registry[model]

        def shown(query: str, registered: Any = registered) -> Any:
            request = rf.get(f"/admin/{query}")
            request.user = world.people["administrator"]
            return registered.get_changelist_instance(request)

        for words in ("7", "0199aaaa-0000-7000-8000-000000000000", "' ; -- \" %"):
            assert shown("?" + parse.urlencode({"q": words})).result_count >= 0
        assert shown("?q=nowhere-at-all").result_count == 0, model.__name__
        everything = shown("")
        for spec in everything.filter_specs:
            for choice in list(spec.choices(everything))[:3]:
                assert shown(choice["query_string"]).result_count >= 0, (model.__name__, spec.title)


def test_nothing_takes_a_write_and_nobody_has_the_permission(
    client: Client, rf: Any, world: worlds.World
) -> None:
    """Neither by method nor by a form's field, in any table."""
    request = rf.get("/admin/")
    request.user = world.people["administrator"]
    faults = []
    for model in tables():
        may = console._registry[model].get_model_perms(request)
        if may != {"add": False, "change": False, "delete": False, "view": True}:
            faults.append(f"{model.__name__}: {may}")
        for what, address in addresses(model).items():
            for method in WRITES if model is models.Queue else ("POST",):
                status = client.generic(method, address, "action=delete_selected").status_code
                faults += [] if status == 405 else [f"{method} {model.__name__} {what}: {status}"]

    assert faults == []


def test_what_django_s_own_admin_would_write_is_not_there() -> None:
    """No log-in of its own, no change of a password past the audit, nothing to add or delete."""
    resolver = urls.get_resolver("xceweb.admin.urls")
    names = {str(name) for name in resolver.reverse_dict if isinstance(name, str)}

    assert {"index", "search", "app_list", "jsi18n", "scheduler_queue_changelist"} <= names
    assert not {name for name in names if name.endswith(("_add", "_delete"))}
    assert not names & {
        "login",
        "logout",
        "password_change",
        "password_change_done",
        "autocomplete",
        "view_on_site",
    }


def test_a_list_costs_the_same_whatever_its_length(client: Client, world: worlds.World) -> None:
    """Of one row of each kind, and of four."""
    before = {model: _cost(client, addresses(model)["list"]) for model in tables()}
    for number in (2, 3, 4):
        rows.add(world, number)

    after = {model: _cost(client, addresses(model)["list"]) for model in tables()}

    assert {model.__name__: count for model, count in after.items()} == {
        model.__name__: count for model, count in before.items()
    }
    assert max(after.values()) <= 12


def _cost(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_a_row_that_is_not_there_is_not_found(client: Client) -> None:
    """404 instead of a way somewhere else."""
    for address in ("admin:scheduler_queue_change", "admin:scheduler_queue_history"):
        assert client.get(urls.reverse(address, args=[9_999_999])).status_code == 404
        assert client.get(urls.reverse(address, args=["nonsense"])).status_code == 404
