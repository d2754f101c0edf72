"""Topics: five forms, and only what exists for the viewer."""

from __future__ import annotations

import pytest

from scheduler import errors
from scheduler.selectors import event_log
from tests import worlds
from xceweb.live import topics

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "topic", ["", "clusters", "group:", "group:a b", "session:1", "user:2", "session:" + "x" * 36]
)
def test_other_forms_are_refused(topic: str) -> None:
    """With the five that there are."""
    world = worlds.a_world()

    with pytest.raises(topics.BadTopic, match="cluster"):
        topics.matcher(world.people["owner"], topic)


@pytest.mark.parametrize("topic", ["group:elsewhere", "session:00000000-0000-0000-0000-000000000000"])
def test_what_is_not_visible_is_not_there(topic: str) -> None:
    """Hidden and missing alike."""
    world = worlds.a_world()

    with pytest.raises(errors.NotVisible):
        topics.matcher(world.people["owner"], topic)


def test_user_me_wants_ones_own_sessions() -> None:
    """And no others."""
    world = worlds.a_world()
    entries = event_log.after(0, limit=100)

    wants = topics.matcher(world.people["submitter"], "user:me")

    assert not any(map(wants, entries))
    assert all(map(topics.matcher(world.people["owner"], "user:me"), entries))


def test_decisions_wants_what_tells_of_decisions() -> None:
    """And nothing else of the sessions that they concern."""
    world = worlds.a_world()
    wants = topics.matcher(world.people["owner"], "decisions")

    found = [entry.type for entry in event_log.after(0, limit=100) if wants(entry)]

    assert found
    assert {name.partition(".")[0] for name in found} == {"decision"}
