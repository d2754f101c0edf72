"""The first page of the console: figures with their ways on, and a check that fails is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler.services import listening
from tests import decision_factories, worlds
from xceweb.admin import dashboard
from xceweb.common import health


@pytest.fixture
def page(client_of: Callable[[str], Client]) -> Callable[[], str]:
    """Return a function that opens the page as an administrator."""
    client = client_of("administrator")
    return lambda: client.get(urls.reverse("admin:index")).content.decode()


def test_a_failed_check_is_told_with_its_reason(page: Callable[[], str]) -> None:
    """The scheduler has never looked; then it has."""
    assert "the scheduler has never looked" in page()

    listening.note()

    assert "the scheduler has never looked" not in page()


def test_when_all_is_well_it_says_so(page: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By the number of checks."""
    monkeypatch.setattr(health, "CHECKS", (health.Check("database", lambda: ""),))

    assert "All 1 checks pass" in page()


def test_the_switch_is_a_way_to_the_policy_and_nothing_to_tick(
    page: Callable[[], str], world: worlds.World
) -> None:
    """On this page, and in the list of groups."""
    text = page()

    assert f'href="{urls.reverse("console:group-policy", args=["gpu"])}">on</a>' in text
    assert 'type="checkbox"' not in text.partition('<div class="xce-board">')[2]


def test_the_account_menu_leads_administrators_here(client_of: Callable[[str], Client]) -> None:
    """And nobody else."""
    link = f'<a href="{urls.reverse("admin:index")}">Administration</a>'

    for person, is_there in (("administrator", True), ("manager", False)):
        text = client_of(person).get(urls.reverse("dashboard:queue-list")).content.decode()
        assert (link in text) == is_there, person


def test_rounds_stand_beside_the_longest(world: worlds.World) -> None:
    """Oldest first; the longest has the whole width, and none has nothing."""
    for duration_ms in (200, 1, 100):
        decision_factories.a_round(world.group, duration_ms=duration_ms)

    shares = [each["share"] for each in dashboard.figures()["rounds"]]

    assert shares[-3:] == [100, 4, 50]
