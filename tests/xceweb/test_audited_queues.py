"""
Every field of a queue by every path: exactly one audit row, with who, request, before, after and why (P05).

Made from the list of fields: a new one is tried by itself, and one that a path cannot set fails.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import models as auth
from django.core.management import call_command
from django.test import Client

from scheduler import models
from scheduler.services import actors, queue_rules, queues
from tests import plugin_packages, worlds
from tests.xceweb.dashboard import test_queue_form
from xceweb.dashboard import queue_form

#: Columns that say which queue it is and who changed it, and the groups that it was made for.
_OWN = {"id", "slug", "groups", "version", "changed_by_name", "changed_at"}
#: field -> another value than that of the queue ``urgent``
OTHER: dict[str, Any] = {
    "description": "For releases",
    "default_priority": 30,
    "max_priority": 60,
    "preemptible": True,
    "preempt_policy": "odd",
    "preemption_mode": "reschedule",
    "state": "no_submit",
    "max_concurrent_sessions": 7,
    "max_slots": {"cpu": 8_000},
    "preemptible_queues": ["background", "normal"],
    "submit_users": ["olivia"],
    "submit_teams": ["lab"],
}
Path = Callable[[models.Queue, str, Any], tuple[str, str]]


def _client() -> Client:
    client = Client()
    client.force_login(models.User.objects.get(username="administrator"))
    return client


def _by_api(method: str, row: models.Queue, name: str, value: Any) -> tuple[str, str]:
    body = {one: queues.value_of(row, one) for one in queues.FIELDS} if method == "PUT" else {}
    answer = _client().generic(
        method,
        "/api/v1/queues/urgent",
        json.dumps({**body, name: value, "reason": f"try {name}"}),
        content_type="application/json",
        headers={"If-Match": f'"{row.version}"'},
    )
    assert answer.status_code == 200, answer.content
    return "administrator", answer["X-Request-ID"]


def by_put(row: models.Queue, name: str, value: Any) -> tuple[str, str]:
    """Replace all fields by the same ones but one."""
    return _by_api("PUT", row, name, value)


def by_patch(row: models.Queue, name: str, value: Any) -> tuple[str, str]:
    """Change one field."""
    return _by_api("PATCH", row, name, value)


def by_command(row: models.Queue, name: str, value: Any) -> tuple[str, str]:
    """Change one field from the shell; the command has a request id of its own."""
    field = f"--field={name}={json.dumps(value)}"
    call_command("queue", "set", "urgent", field, f"--reason=try {name}", stdout=io.StringIO())
    return "command queue", models.ConfigChange.objects.latest("pk").request_id


def by_service(row: models.Queue, name: str, value: Any) -> tuple[str, str]:
    """Call the service, as a shell does."""
    actor = actors.Actor(None, "a shell", "shell-1")
    queues.change_queue(actor, row, changes={name: value}, reason=f"try {name}")
    return "a shell", "shell-1"


def by_matrix(row: models.Queue, name: str, value: Any) -> tuple[str, str]:
    """Tick a box of the matrix, which has the fields of ``queue_rules`` alone."""
    is_open = value if name == "preemptible" else row.preemptible
    givers = value if name == "preemptible_queues" else queues.value_of(row, "preemptible_queues")
    sent = {
        "versions": f"urgent:{row.version}",
        "was": " ".join(f"urgent:{giver}" for giver in queues.value_of(row, "preemptible_queues")),
        "was_preemptible": "urgent" if row.preemptible else "",
        "takes": [f"urgent:{giver}" for giver in givers],
        "preemptible": ["urgent"] if is_open else [],
        "reason": f"try {name}",
    }
    answer = _client().post("/queues/", sent)
    assert answer.status_code == 302, answer.content.decode()
    return "administrator", answer["X-Request-ID"]


def by_page(row: models.Queue, name: str, value: Any) -> tuple[str, str]:
    """Send the form of the queue's page with one field touched."""
    data = test_queue_form.sent_by(queue_form.QueueForm(row))
    written = {"max_slots": "cpu=8", "submit_users": "olivia", "submit_teams": "lab"}.get(name, value)
    data.setlist(name, written if isinstance(written, list) else [str(written)])
    data["reason"] = f"try {name}"
    answer = _client().post(
        "/queues/urgent/", data.urlencode(), content_type="application/x-www-form-urlencoded"
    )
    assert answer.status_code == 302, answer.content.decode()
    return "administrator", answer["X-Request-ID"]


ALL = [(path, name) for path in (by_put, by_patch, by_command, by_service, by_page) for name in queues.FIELDS]
ALL += [(by_matrix, name) for name in sorted(queue_rules.FIELDS)]


@pytest.fixture
def site(world: worlds.World, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> worlds.World:
    """The small cluster with a policy and a team that a queue can name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin_packages.install(tmp_path, "odd_one", {"odd": "choose"}, code="def choose(problem): ...")
    auth.Group.objects.create(name="lab")
    return world


def test_p05_each_field_of_a_queue_by_each_path_is_audited_exactly_once(site: worlds.World) -> None:
    """And does what was asked, once."""
    tried = models.Queue.objects.get(slug="urgent")
    start = {name: queues.value_of(tried, name) for name in queues.FIELDS}
    for path, name in ALL:
        known = set(models.ConfigChange.objects.values_list("pk", flat=True))
        before, value = start[name], OTHER[name]

        who, request_id = path(tried, name, value)

        (audit,) = models.ConfigChange.objects.exclude(pk__in=known)
        place = (path.__name__, name)
        assert (audit.object_type, audit.object_name) == ("queue", "urgent"), place
        assert (audit.actor_name, audit.request_id, audit.reason) == (who, request_id, f"try {name}"), place
        assert audit.request_id, place
        assert (audit.before, audit.after) == ({name: before}, {name: value}), place
        tried = models.Queue.objects.get(slug="urgent")
        assert queues.value_of(tried, name) == value, place
        tried = queues.change_queue(actors.SYSTEM, tried, changes={name: before}, reason="and back")


def test_every_column_of_a_queue_can_be_set_or_says_which_it_is() -> None:
    """So that a new field cannot be left out of the list."""
    columns = {column.name for column in models.Queue._meta.get_fields() if not column.auto_created}

    assert columns - {"id"} == set(queues.FIELDS) | (_OWN - {"id"})
    assert set(OTHER) == set(queues.FIELDS)
