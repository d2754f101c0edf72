"""Lists of sessions: filters, facets, pages, and what a row holds."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.selectors import permissions, sessions
from tests import model_factories, worlds

Filters = sessions.Filters


def names(world: worlds.World, filters: sessions.Filters, who: str = "owner") -> set[str]:
    """Return the names of a list's first page."""
    return {row.name for row in sessions.page(world.people[who], filters).rows}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"low-work", "high-work", "late-work"}),
        (Filters(state="pending"), {"late-work"}),
        (Filters(state="alive"), {"low-work", "high-work", "late-work"}),
        (Filters(state="ended:success"), set()),
        (Filters(state="unheard-of"), {"low-work", "high-work", "late-work"}),
        (Filters(q="HIGH"), {"high-work"}),
        (Filters(q="state:suspended,pending user:me -work"), {"low-work", "late-work"}),
        (Filters(owner="me", group="gpu", queue="normal"), {"low-work", "high-work", "late-work"}),
        (Filters(queue="urgent"), set()),
        (Filters(owner="olivia"), {"low-work", "high-work", "late-work"}),
        (Filters(owner="nobody"), set()),
        (Filters(reason="no-resources"), {"late-work"}),
        (Filters(reason="no-resources", state="running"), set()),
        (Filters(reason="held"), set()),
        (Filters(reason="not-evaluated"), set()),
    ],
)
def test_filters_narrow(world: worlds.World, filters: sessions.Filters, expected: set[str]) -> None:
    """Each on its own and together."""
    assert names(world, filters) == expected


def test_an_id_finds_its_session(world: worlds.World) -> None:
    """For everybody who may see it."""
    found = sessions.page(world.people["viewer"], Filters(q=str(world.running.public_id)))

    assert [row.id for row in found.rows] == [world.running.public_id]


def test_names_are_searched_only_where_they_may_be_read(world: worlds.World) -> None:
    """A match would tell the name."""
    counts = {
        who: sessions.page(world.people[who], Filters(q="work")).total
        for who in ("viewer", "submitter", "operator", "administrator", "outsider")
    }

    assert counts == {"viewer": 0, "submitter": 0, "operator": 3, "administrator": 3, "outsider": 0}


def test_held_goes_before_what_the_last_round_said(world: worlds.World) -> None:
    """As the row itself says it."""
    models.Session.objects.filter(state="pending").update(is_held=True)

    assert (names(world, Filters(reason="held")), names(world, Filters(reason="no-resources"))) == (
        {"late-work"},
        set(),
    )


def test_what_no_round_has_seen_is_found_as_such(world: worlds.World) -> None:
    """It has no reason yet."""
    models.PendReason.objects.all().delete()

    assert names(world, Filters(reason="not-evaluated")) == {"late-work"}


def test_a_row_of_a_summary_holds_nothing_more(world: worlds.World) -> None:
    """State, size, queue and times."""
    row = next(row for row in sessions.page(world.people["viewer"], Filters()).rows if row.state == "running")

    assert row.sight == permissions.Sight.SUMMARY
    assert (row.name, row.owner, row.verdict, row.nodes, row.priority) == ("", "", "", [], None)
    assert (row.queue, row.slots) == ("normal", {"cpu": 1_000, "mem": 1 << 30})


def test_a_row_of_ones_own_has_reason_and_node(world: worlds.World) -> None:
    """In a few words."""
    rows = {row.name: row for row in sessions.page(world.people["owner"], Filters()).rows}

    assert rows["late-work"].verdict == "Not enough free"
    assert rows["high-work"].nodes == ["gpu-1"]
    assert rows["low-work"].is_mine


def test_counts_by_state_ignore_the_state_filter(world: worlds.World) -> None:
    """The facets show where the others are."""
    page = sessions.page(world.people["owner"], Filters(state="pending"))

    assert page.total == 1
    assert page.counts.state == {"": 3, "alive": 3, "pending": 1, "running": 1, "suspended": 1}


def test_pages_follow_each_other(world: worlds.World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newest first, without overlap."""
    monkeypatch.setattr(sessions, "PAGE", 2)
    first = sessions.page(world.people["owner"], Filters())
    second = sessions.page(world.people["owner"], Filters(), number=2)

    assert [row.name for row in first.rows + second.rows] == ["late-work", "high-work", "low-work"]
    assert (first.first, second.first, second.total) == (1, 3, 3)


def test_ones_own_sessions_have_the_living_first(world: worlds.World) -> None:
    """Then those that ended last."""
    over = model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["normal"], group=world.group, state="terminated"
    )

    found = [row.name for row in sessions.mine(world.people["owner"])]

    assert found == ["late-work", "high-work", "low-work", over.name]
    assert [row.name for row in sessions.mine(world.people["owner"], limit=2)] == ["late-work", "high-work"]


def test_filters_as_a_query_find_the_same(world):
    """What the page has is what is kept of it."""
    filters = Filters(
        q="work", owner="me", state="pending", group="gpu", queue="normal", reason="no-resources"
    )

    assert (
        names(world, filters, "owner") == names(world, Filters(q=filters.query()), "owner") == {"late-work"}
    )
    assert Filters(state="ended:success").query() == "result:success state:over"
    assert Filters().query() == ""
