"""The page of an agent's keys: a key is shown once, audited once, and revoked."""

from __future__ import annotations

import datetime
import html
import json
import re
from collections.abc import Callable

import pytest
from django import urls
from django.test import Client
from django.utils import timezone

from scheduler import models
from tests import model_factories, worlds

ADDRESS = "/nodes/gpu-1/keys/"


@pytest.fixture
def client(client_of: Callable[[str], Client]) -> Client:
    """An administrator's."""
    return client_of("administrator")


def _key_of(text: str) -> dict[str, str]:
    found = re.search(r'id="made-key">(.*?)</code>', text, re.DOTALL)
    assert found is not None
    return json.loads(html.unescape(found[1]))


def test_a_key_is_shown_once_with_the_command_that_starts_the_agent(
    client: Client, world: worlds.World
) -> None:
    """And is the stored one; one row of audit names it, without its secret."""
    text = client.post(ADDRESS, {}).content.decode()

    key, row = _key_of(text), models.AgentKey.objects.get(node=world.node)
    assert key == {"node": "gpu-1", "key_id": row.key_id, "secret": bytes(row.secret).hex()}
    assert "python -m scheduler.agent --node gpu-1 --key-file key.json" in text
    assert key["secret"] not in client.get(ADDRESS).content.decode()
    (change,) = models.ConfigChange.objects.filter(object_type="node key")
    assert (change.object_name, change.actor_name, change.after) == (
        "gpu-1",
        "administrator",
        {"key": row.key_id},
    )


def test_an_old_log_in_proves_itself_again(client: Client, world: worlds.World) -> None:
    """No key until the password is right."""
    session = client.session
    session["xce_proven_at"] = (timezone.now() - datetime.timedelta(days=1)).isoformat()
    session.save()

    without, wrong = client.post(ADDRESS, {}), client.post(ADDRESS, {"password": "not it"})
    assert (without.status_code, wrong.status_code, models.AgentKey.objects.count()) == (422, 422, 0)
    assert "write your password" in without.content.decode()
    assert "That is not your password." in wrong.content.decode()

    right = client.post(ADDRESS, {"password": model_factories.PASSWORD})
    assert (right.status_code, models.AgentKey.objects.count()) == (200, 1)


def test_a_key_is_revoked_with_its_reason(client: Client, world: worlds.World) -> None:
    """Once; the second time says that there is none."""
    client.post(ADDRESS, {})
    row = models.AgentKey.objects.get()
    address = urls.reverse("console:node-key-revoke", args=["gpu-1", row.key_id])

    first = client.post(address, {"reason": "the disk was sold"}, follow=True).content.decode()
    second = client.post(address, {}, follow=True).content.decode()

    row.refresh_from_db()
    assert row.revoked_at is not None
    assert models.ConfigChange.objects.filter(object_type="node key", reason="the disk was sold").count() == 1
    assert f"{row.key_id} opens nothing any more." in first
    assert f"gpu-1 has no valid key {row.key_id}" in second


def test_the_page_of_the_node_leads_there(client_of: Callable[[str], Client]) -> None:
    """Administrators alone."""
    pages = {
        name: client_of(name).get("/nodes/gpu-1/").content.decode() for name in ("administrator", "operator")
    }

    assert {name: ADDRESS in text for name, text in pages.items()} == {
        "administrator": True,
        "operator": False,
    }
