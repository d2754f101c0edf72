"""What the facets of a list count, and for whom."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler import models
from scheduler.selectors import permissions, session_facets, sessions
from tests import model_factories, worlds

Filters = sessions.Filters


def counted(world: worlds.World, who: str, **chosen: str) -> session_facets.Counts:
    """Count everything that somebody sees."""
    viewer = world.people[who]
    filters = dataclasses.asdict(Filters(**chosen))
    return session_facets.count(permissions.visible_sessions(viewer), viewer, filters)


def test_each_facet_counts_its_values(world: worlds.World) -> None:
    """States with their sums, groups, queues, owners, and why they wait."""
    model_factories.a_session(
        owner=world.people["submitter"],
        queue=world.queues["background"],
        group=world.group,
        state="terminated",
        result="failure",
    )

    found = counted(world, "operator")

    assert found.total == 4
    assert found.state == {
        "": 4,
        "alive": 3,
        "pending": 1,
        "running": 1,
        "suspended": 1,
        "terminated": 1,
        "ended:failure": 1,
    }
    assert (found.group, found.queue) == ({"gpu": 4}, {"normal": 3, "background": 1})
    assert (found.owner, found.mine) == ({"olivia": 3, "submitter": 1}, 0)
    assert found.reason == {"no-resources": 1}


def test_a_facet_leaves_its_own_filter_out(world: worlds.World) -> None:
    """It shows where the others are; the other facets keep to the filter."""
    model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["background"], group=world.group, state="running"
    )

    found = counted(world, "owner", queue="background")
    both = counted(world, "owner", queue="background", state="pending")

    assert (found.total, found.queue, found.state) == (
        1,
        {"normal": 3, "background": 1},
        {"": 1, "alive": 1, "running": 1},
    )
    assert (both.total, both.queue, both.state, both.owner) == (
        0,
        {"normal": 1},
        {"": 1, "alive": 1, "running": 1},
        {},
    )


@pytest.mark.parametrize("who", ["viewer", "submitter", "outsider"])
def test_owners_and_reasons_of_others_are_not_counted(world: worlds.World, who: str) -> None:
    """Their number would tell them; states and queues may be read."""
    found = counted(world, who)
    named = counted(world, who, owner="olivia")

    assert (found.owner, found.mine, found.reason, named.total) == ({}, 0, {}, 0)
    assert found.total == (0 if who == "outsider" else 3)


def test_ones_own_are_counted_among_those_that_are_hidden(world: worlds.World) -> None:
    """By name, and as mine."""
    model_factories.a_session(
        owner=world.people["viewer"], queue=world.queues["normal"], group=world.group, is_held=True
    )

    found = counted(world, "viewer")

    assert (found.owner, found.mine, found.reason) == ({"viewer": 1}, 1, {"held": 1})
    assert counted(world, "viewer", owner="me").total == 1


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"state": "alive"},
        {"state": "ended:success"},
        {"state": "unheard-of"},
        {"owner": "me"},
        {"owner": "olivia", "queue": "normal"},
        {"reason": "no-resources", "group": "gpu"},
        {"reason": "held"},
        {"q": "late"},
    ],
)
@pytest.mark.parametrize("who", ["owner", "viewer", "administrator"])
def test_the_total_is_what_the_list_holds(world: worlds.World, who: str, chosen: dict[str, str]) -> None:
    """The counts follow the same rules as the query of the rows."""
    models.Session.objects.filter(pk=world.victim.pk).update(is_private=True)

    page = sessions.page(world.people[who], Filters(**chosen))

    assert page.total == len(page.rows)


def test_counting_takes_two_queries(world: worlds.World, django_assert_num_queries) -> None:
    """Whatever there is to count."""
    with django_assert_num_queries(2):
        session_facets.count(models.Session.objects.all(), world.people["administrator"], {})
