"""The first sentence of the overview."""

from __future__ import annotations

from scheduler import models
from scheduler.selectors import overview
from tests import model_factories, worlds
from xceweb.dashboard.contexts import headline


def _sentence(world: worlds.World, who: str) -> str:
    return headline.load(world.people[who])["sentence"]


def test_it_says_how_many_wait_and_why(world: worlds.World) -> None:
    """And leads to them."""
    found = headline.load(world.people["viewer"])

    assert found["sentence"] == "**1** session waits in **gpu**: **not enough free**."
    assert found["link"]["url"] == "/sessions/?state=pending&group=gpu"


def test_while_nothing_waits_it_says_what_runs_and_what_is_free(world: worlds.World) -> None:
    """Devices where a group has them, cores else; what the viewer may not see is not counted."""
    models.Session.objects.filter(pk=world.waiting.pk).update(is_private=True)
    model_factories.a_node("batch-1", group=world.elsewhere, capacity={"cpu": 16_000})

    assert _sentence(world, "viewer") == (
        "**Nothing waits.** 1 session runs on 1 node; 1 is suspended; 4 of 4 GPUs are free in gpu."
    )
    assert _sentence(world, "outsider") == (
        "**Nothing waits.** No session runs; 16 of 16 cores are free in elsewhere."
    )


def test_a_private_session_is_not_counted(world: worlds.World) -> None:
    """Neither it nor its node."""
    models.Session.objects.update(is_private=True)

    assert _sentence(world, "viewer") == "**Nothing waits.** No session runs; 4 of 4 GPUs are free in gpu."


def test_it_names_three_groups_and_counts_the_others(db: None) -> None:
    """The verb stands once."""
    free = tuple(overview.FreeSlots(f"g{n}", "cpu", 1_500, 4_000) for n in range(4))

    assert headline._at_rest(overview.Rest(7, 4, 0, free)) == (
        "**Nothing waits.** 7 sessions run on 4 nodes; "
        "1.5 of 4 cores are free in g0, 1.5 of 4 cores in g1, 1.5 of 4 cores in g2 (and 1 more group)."
    )


def test_without_nodes_nothing_is_free(world: worlds.World) -> None:
    """And nobody runs."""
    assert _sentence(world, "outsider") == "**Nothing waits.** No session runs."
