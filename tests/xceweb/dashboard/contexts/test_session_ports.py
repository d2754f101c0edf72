"""Where an interactive session listens, for those who may know."""

from __future__ import annotations

import pytest

from scheduler import models
from tests import worlds
from xceweb.dashboard.contexts import session_seen, why_other


@pytest.mark.parametrize(("who", "shows"), [("owner", True), ("operator", True), ("viewer", False)])
def test_node_and_port_are_shown_while_it_runs(world: worlds.World, client_of, who: str, shows: bool) -> None:
    models.Session.objects.filter(pk=world.running.pk).update(port=8888)
    address = f"/sessions/{world.running.public_id}/"
    running = client_of(who).get(address).content.decode()
    models.Session.objects.filter(pk=world.running.pk).update(state="stopping")
    stopping = client_of(who).get(address).content.decode()

    assert ("gpu-1:8888" in running) is shows
    assert "gpu-1:8888" not in stopping


def test_a_session_without_a_port_listens_nowhere(world: worlds.World) -> None:
    seen = session_seen.look(world.people["owner"], world.running)

    assert "Listens at" not in [fact["term"] for fact in why_other._facts(seen)]
