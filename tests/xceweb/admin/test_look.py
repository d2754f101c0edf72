"""The console looks like the product: its colours are the product's, its theme the reader's."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable

import pytest
from django import urls
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from xceweb.admin import look

_CSS = pathlib.Path(settings.BASE_DIR, "static", "css")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


def test_every_colour_is_one_of_the_product_s() -> None:
    """Those of the theme, and those of the style sheet."""
    known = set(_COLOUR.findall((_CSS / "tokens.css").read_text()))
    used = set(_COLOUR.findall((_CSS / "admin.css").read_text()))
    for scale in look.UNFOLD["COLORS"].values():
        used |= set(scale.values())

    assert used - known == set()


@pytest.mark.parametrize(
    ("cookie", "expected"), [("dark", 'class="dark"'), ("light", 'class="light"'), ("", "")]
)
def test_the_theme_is_the_one_of_the_pages(
    client_of: Callable[[str], Client], cookie: str, expected: str
) -> None:
    """By the same cookie; without one the system's."""
    client = client_of("administrator")
    client.cookies["xce_theme"] = cookie

    first = re.search(r"<html[^>]*>", client.get(urls.reverse("admin:index")).content.decode())

    assert first is not None
    assert (expected in first[0]) == bool(expected) or "class=" not in first[0]
    assert ("class=" in first[0]) == bool(cookie)


def test_the_side_bar_says_where_one_is(client_of: Callable[[str], Client]) -> None:
    """One entry is current, on lists and rows alike."""
    client = client_of("administrator")
    for address, label in (
        (urls.reverse("admin:index"), "Dashboard"),
        (urls.reverse("admin:app_list", args=["scheduler"]), "All tables"),
        (urls.reverse("admin:scheduler_round_changelist"), "Rounds"),
    ):
        text = client.get(address).content.decode()
        found = re.findall(r'<a href="[^"]*" aria-current="page".*?</span>\s*(.*?)\s*</a>', text, re.DOTALL)
        assert found == [label], address


def test_the_console_links_to_nothing_of_another_host_and_what_it_needs_is_there(
    client_of: Callable[[str], Client],
) -> None:
    """Scripts, styles and fonts come out of the wheel."""
    text = client_of("administrator").get(urls.reverse("admin:index")).content.decode()
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', text)

    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
    assert len(files) > 5
    assert [name for name in files if finders.find(name.removeprefix("/static/")) is None] == []


def test_the_account_menu_leads_to_the_product_s_own_pages(client_of: Callable[[str], Client]) -> None:
    """Its log-out and its theme; no change of a password that nobody audits."""
    text = client_of("administrator").get(urls.reverse("admin:index")).content.decode()

    assert f'action="{urls.reverse("accounts:logout")}"' in text
    assert f'action="{urls.reverse("common:theme")}"' in text
    assert "password" not in text
