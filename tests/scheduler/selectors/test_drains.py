"""What draining a node would mean."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.selectors import drains
from tests import model_factories, worlds

pytestmark = pytest.mark.django_db


def _more(world: worlds.World, **fields: object) -> models.Session:
    values = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    return model_factories.a_session(**{**values, **fields})


def test_what_runs_there_is_counted_apart_from_what_is_suspended() -> None:
    """The world has one of each."""
    world = worlds.a_world()

    found = drains.preview(world.node)

    assert (found.active, found.suspended, found.last_end) == (1, 1, None)


def test_the_last_end_is_known_when_everybody_there_has_a_time_limit() -> None:
    """One without a limit makes it unknown."""
    world = worlds.a_world()
    models.Session.objects.filter(pk=world.running.pk).update(wall_limit=100)
    later = _more(world, state="running", wall_limit=500)
    known = drains.preview(world.node).last_end
    _more(world, state="running")

    assert known is not None
    assert later.started_at is not None
    assert (known - later.started_at).total_seconds() == 500
    assert drains.preview(world.node).last_end is None


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"slots": {"cpu": 8000}}, 1),
        ({"slots": {"cpu": 4000}}, 0),
        ({"slots": {"cpu": 9000}}, 0),
        ({"required_labels": {"gpu": ["a100", "h100"]}}, 1),
        ({"required_labels": {"gpu": ["l4"]}}, 0),
        ({"slots": {"cpu": 1000}, "node_count": 2}, 1),
        ({"slots": {"cpu": 1000}, "node_count": 3}, 0),
    ],
)
def test_who_could_start_nowhere_else_is_counted(fields: dict[str, object], count: int) -> None:
    """Beside it stands a smaller node without its label; what fits nowhere at all is not counted."""
    world = worlds.a_world()
    models.Node.objects.filter(pk=world.node.pk).update(labels={"gpu": "a100"})
    model_factories.a_node(group=world.group, capacity={"cpu": 4000, "mem": 32 * model_factories.GIB})
    models.PendReason.objects.all().delete()
    _more(world, **fields)

    assert drains.preview(world.node).stranded == count
