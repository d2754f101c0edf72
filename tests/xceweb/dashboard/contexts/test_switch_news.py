"""The banner for people whose sessions may be stopped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from scheduler.selectors import switch_news as selector
from tests import model_factories, worlds
from xceweb.dashboard.contexts import switch_news


def shown(monkeypatch: pytest.MonkeyPatch, **changes: object) -> dict[str, object]:
    """Return the banner of some news."""
    values = {
        "group": "gpu",
        "state": "on",
        "before": "off",
        "at": model_factories.ago(60),
        "is_planned": False,
    }
    values |= {"by": "carol", "reason": "r", "mode": "reschedule", "running": 2, "waiting": 1}
    monkeypatch.setattr(selector, "for_owner", lambda user: [selector.News(**{**values, **changes})])
    (banner,) = switch_news.load(None)
    return banner


@pytest.mark.parametrize(
    ("changes", "title", "text"),
    [
        (
            {},
            "Preemption in **gpu** is **on**",
            "Now **2 running sessions** of yours can be stopped for more important ones. Who is stopped goes back to"
            " its queue and starts anew.",
        ),
        (
            {"is_planned": True, "running": 0, "mode": "terminate"},
            "Preemption in **gpu** will be **on**",
            "From then on sessions of yours can be stopped for more important ones. Who is stopped ends.",
        ),
        (
            {"state": "off", "before": "on"},
            "Preemption in **gpu** is **off**",
            "Now nobody is stopped there any more.",
        ),
        (
            {"state": "shadow"},
            "Preemption in **gpu** is **shadow**",
            "Now nobody is stopped there; shadow only records what it would do.",
        ),
        ({"state": "off", "before": "shadow"}, "Preemption in **gpu** is **off**", ""),
    ],
)
def test_a_banner_says_what_it_means_for_ones_own_sessions(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], title: str, text: str
) -> None:
    """With the consequence."""
    banner = shown(monkeypatch, **changes)

    assert (banner["title"], banner["text"]) == (title, text)


def test_it_stands_on_the_overview_of_who_is_affected(
    world: worlds.World, client_of: Callable[[str], Client]
) -> None:
    """And of nobody else."""
    model_factories.a_policy_version(world.group, preemption_state="off", reason="a quiet night")

    assert "a quiet night" in client_of("owner").get("/").content.decode()
    assert "News of preemption" not in client_of("viewer").get("/").content.decode()
