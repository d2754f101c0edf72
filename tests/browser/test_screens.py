"""
Pictures of every page, light and dark, wide and narrow, on a demo cluster that has lived for a while.

They go into the directory that XCE_SCREENS names, else into a temporary one; the README's picture is
``overview-1440-light.png`` of such a run. Each page is also checked by axe.
"""

from __future__ import annotations

import pathlib

import pytest
from axe_playwright_python import sync_playwright as axe
from playwright import sync_api

from tests.browser import people

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
PAGES = {
    "overview": "/",
    "sessions": "/sessions/",
    "submit": "/sessions/new/",
    "group": "/groups/gpu/",
    "policy": "/groups/gpu/policy/",
    "queues": "/queues/",
    "nodes": "/nodes/",
    "node": "/nodes/gpu-1/",
    "decisions": "/decisions/",
    "reasons": "/help/reasons/",
    "design": "/help/design/",
}
FACES = [(1440, "light"), (390, "dark")]


@pytest.mark.parametrize(("width", "theme"), FACES, ids=[f"{w}-{t}" for w, t in FACES])
def test_every_page_is_drawn_and_accessible(log_in, screens, width, theme):
    admin = log_in("admin", viewport={"width": width, "height": 900}, color_scheme=theme)

    found = {
        name: _violations(admin, path, screens / f"{name}-{width}-{theme}.png")
        for name, path in PAGES.items()
    }

    assert {name: texts for name, texts in found.items() if texts} == {}


def _violations(person: people.Person, path: str, picture: pathlib.Path) -> list[str]:
    page = person.page
    answer = page.goto(path)
    assert answer is not None
    assert answer.status == 200
    sync_api.expect(page.locator("main h1, main h2").first).to_be_visible()
    page.screenshot(path=picture, full_page=True, caret="initial")
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    texts = [f"{each['id']}: {each['help']}" for each in axe.Axe().run(page).response["violations"]]
    return texts + ([f"{overflow} px wider than the window"] if overflow > 0 else [])
