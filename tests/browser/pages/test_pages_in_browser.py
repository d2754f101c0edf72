"""The sample pages in a browser: accessible, within the content policy, the same without reloading."""

import os
import re

import pytest
from axe_playwright_python import sync_playwright as axe
from playwright import sync_api

from tests.xceweb.common.samples import pages

pytestmark = pytest.mark.browser

FACES = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
#: Made of the same parts as others: looked at by night only.
BY_NIGHT = {
    "overview-empty",
    "sessions-empty",
    "why-warned",
    "why-failed",
    "session-timeline",
    "session-runs",
}
BY_NIGHT |= {"session-facts", "policy-conflict", "policy-viewer", "not-allowed"}
IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))


def _cases():
    """By day each page shows one face, by turns; at night all of them."""
    if IS_NIGHT:
        return [(name, *face) for name in pages.PAGES for face in FACES]
    names = [name for name in pages.PAGES if name not in BY_NIGHT]
    return [(name, *FACES[index % len(FACES)]) for index, name in enumerate(names)]


def _look(open_page, name, face):
    page = open_page(name, width=face[0], theme=face[1])
    faults = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.reload()
    found = axe.Axe().run(page).response["violations"]
    beside = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return faults, [(each["id"], [node["html"] for node in each["nodes"]]) for each in found], beside


@pytest.mark.parametrize(("name", "width", "theme"), _cases())
def test_a_page_is_clean(open_page, name, width, theme):
    assert _look(open_page, name, (width, theme)) == ([], [], 0)


def test_the_policy_of_the_page_refuses_inline_code(open_page):
    page = open_page("not-found")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p id=x style=\"color: red\">x</p>')")

    assert page.locator("#x").evaluate("element => getComputedStyle(element).color") != "rgb(255, 0, 0)"


def test_the_theme_changes_in_place_and_stays(open_page):
    page = open_page("overview")
    with page.expect_response("**/theme/") as answer:
        page.get_by_role("button", name="Dark theme").click()
    in_place = page.evaluate("document.documentElement.dataset.theme")
    page.reload()

    assert answer.value.status == 204
    assert (in_place, page.evaluate("document.documentElement.dataset.theme")) == ("dark", "dark")


def test_times_are_in_the_readers_zone(chromium, page_server):
    with chromium.new_context(timezone_id="Asia/Tokyo") as context:
        page = context.new_page()
        page.goto(f"{page_server}/pages/decision/")
        shown = page.locator("main time").first

        sync_api.expect(shown).to_have_attribute("title", re.compile(r"GMT\+9"))


def test_a_list_changes_where_it_stands_and_keeps_its_ticks(open_page, stream):
    page = open_page("sessions")
    page.locator("input.tick").nth(1).check()
    rows = page.locator("#session-rows").evaluate("one => one.outerHTML")
    fresh = rows.replace("sweep-40", "changed") + '<div id="news" hx-swap-oob="innerHTML">1 new session</div>'
    page.route(
        "**/sessions/?part=session_again", lambda route: route.fulfill(body=fresh, content_type="text/html")
    )
    stream.batch(48_211, 48_212)
    sync_api.expect(page.locator("#session-rows")).to_contain_text("changed")

    assert page.locator("#news").inner_text() == "1 new session"
    assert [tick.is_checked() for tick in page.locator("input.tick").all()][:3] == [False, True, False]
    assert page.locator("[data-ticked]").inner_text() == "Act on 1 ticked"


def test_a_dialog_opens_and_gives_focus_back(open_page):
    page = open_page("node")
    button = page.get_by_role("button", name="Drain", exact=True)
    button.click()
    sync_api.expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")

    sync_api.expect(page.get_by_role("dialog")).to_be_hidden()
    sync_api.expect(button).to_be_focused()


def test_the_skip_link_comes_first(open_page):
    page = open_page("overview")
    page.keyboard.press("Tab")

    sync_api.expect(page.get_by_role("link", name="Skip to content")).to_be_focused()


def test_a_slash_leads_to_the_search_field(open_page):
    page = open_page("overview")
    page.keyboard.press("/")

    sync_api.expect(page.get_by_role("searchbox", name="Find sessions")).to_be_focused()


def test_tables_keep_their_roles_on_a_phone(open_page):
    page = open_page("sessions", width=390)

    assert page.get_by_role("row").count() == 13
    assert page.get_by_role("rowheader").count() == 13


def test_the_importance_follows_the_number(open_page):
    page = open_page("submit")
    page.get_by_label("Priority", exact=True).fill("10")

    sync_api.expect(page.get_by_role("radio", name="Normal")).to_be_checked()


def test_the_policy_form_counts_its_changes(open_page):
    page = open_page("policy")
    page.get_by_label("Minimum runtime").fill("300")

    sync_api.expect(page.locator("[data-changes]")).to_have_text("No rule changed")
