"""The closed list of reasons: every member has a text, a title and a whole help page; a new one fails until it has."""

from __future__ import annotations

import dataclasses
import enum
import html
from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler import models
from scheduler.core import decisions
from tests import worlds
from xceweb.common import reasons
from xceweb.common.reason_pages import outcomes, page, pending, verdicts

OUTCOMES = models.Outcome.Kind.values
CODES = [*(str(one) for one in decisions.PendReason), *(str(one) for one in decisions.Verdict), *OUTCOMES]


def test_every_reason_to_wait_has_a_whole_page() -> None:
    """Meaning, owner, administrator."""
    assert reasons.without_page(decisions.PendReason, pending.PAGES) == []


def test_every_verdict_has_a_whole_page() -> None:
    """Meaning, owner, administrator."""
    assert reasons.without_page(decisions.Verdict, verdicts.PAGES) == []


def test_every_outcome_has_a_title_and_a_whole_page() -> None:
    """Meaning, owner, administrator."""
    assert reasons.without_page(OUTCOMES, outcomes.PAGES) == []
    assert set(OUTCOMES) <= set(outcomes.TITLES)


def test_a_new_member_is_found_out() -> None:
    """One without a page, and one whose page is not whole."""
    new = enum.StrEnum("Grown", {"HELD": "held", "NEW": "new", "HALF": "half"})
    pages = {"held": pending.PAGES["held"], "half": page.Page("It is half.", "Nothing.", "")}

    assert reasons.without_page(new, pages) == ["new", "half"]


@pytest.mark.parametrize("code", CODES)
def test_each_is_listed_once_and_said_in_whole_sentences(code: str) -> None:
    """The code is its permalink."""
    part, reason = reasons.find(code) or pytest.fail("not listed")

    texts = (reason.meaning, reason.page.meaning, reason.page.user, reason.page.administrator)
    assert all(text[:1].isupper() and text.endswith(".") and "  " not in text for text in texts)
    assert reason.label
    assert [one.code for each in reasons.parts() for one in each.reasons].count(code) == 1
    assert reason in part.reasons


def test_an_unknown_code_is_no_reason() -> None:
    """Nor half of one."""
    assert reasons.find("hel") is None


@pytest.mark.parametrize("code", CODES)
def test_each_has_a_page_of_its_own(
    code: str, world: worlds.World, client_of: Callable[[str], Client]
) -> None:
    """With its three texts."""
    _, reason = reasons.find(code) or pytest.fail("not listed")

    answer = client_of("viewer").get(reasons.url(code))

    shown = html.unescape(answer.content.decode())
    assert answer.status_code == 200
    assert shown.count(f"<code>{code}</code>") == 1
    assert all(text in shown for text in dataclasses.astuple(reason.page))


def test_an_unknown_page_is_not_there(world: worlds.World, client_of: Callable[[str], Client]) -> None:
    """As any other address."""
    assert client_of("viewer").get(urls.reverse("help:reason", args=["nonsense"])).status_code == 404


def test_the_page_of_a_session_leads_to_its_reason_and_its_verdicts(
    world: worlds.World, client_of: Callable[[str], Client]
) -> None:
    """One click from the sentence to what it means."""
    client = client_of("owner")
    waits, stopped = (
        client.get(urls.reverse("dashboard:session-detail", args=[one.public_id])).content.decode()
        for one in (world.waiting, world.victim)
    )

    assert f'href="{reasons.url("no-resources")}"' in waits
    assert f'href="{reasons.url("selected")}"' in stopped
