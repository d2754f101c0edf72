"""Pages that ask for parts of themselves: an answer that comes late never swallows a later change."""

from __future__ import annotations

import pytest
from playwright import sync_api

from tests.browser import people

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
expect = sync_api.expect


class Held:
    """The first question of a page, whose answer is kept back until it is asked for."""

    def __init__(self, page: sync_api.Page, address: str) -> None:
        """Keep back the first answer from `address`."""
        self.bodies: list[str] = []
        self._kept: tuple[sync_api.Route, sync_api.APIResponse] | None = None
        page.route(address, self._take)

    def _take(self, route: sync_api.Route) -> None:
        self.bodies.append(route.request.post_data or "")
        if len(self.bodies) > 1:
            route.continue_()
        else:
            self._kept = (route, route.fetch())

    def wait(self, page: sync_api.Page) -> None:
        """Wait until the first answer is there, and kept back."""
        while self._kept is None:
            page.wait_for_timeout(20)

    def wait_for_another(self, page: sync_api.Page) -> None:
        """
        Wait until it was asked a second time.

        Raises:
            AssertionError: it was not.
        """
        for _ in range(people.LIVE_MS // 20):
            if len(self.bodies) > 1:
                return
            page.wait_for_timeout(20)
        raise AssertionError("nobody asked again")

    def let_go(self) -> None:
        """Hand the answer over."""
        route, answer = self._kept
        route.fulfill(response=answer)


def _change(page: sync_api.Page, selector: str, value: str) -> None:
    field = page.locator(selector)
    field.fill(value)
    field.dispatch_event("change")


def test_a_dry_run_tells_about_the_last_change(log_in):
    carol = log_in("carol")
    carol.page.goto("/sessions/new/")
    held = Held(carol.page, "**/sessions/new/dry-run/")
    carol.fill("late", group="batch", queue="normal", cores="1")
    held.wait(carol.page)

    _change(carol.page, "#submit-form [name=slot-cpu]", "7")
    held.let_go()

    expect(carol.page.locator("#dry-run")).to_contain_text("7 cores", timeout=people.LIVE_MS)
    assert "slot-cpu=7" in held.bodies[-1]


def test_a_preview_tells_about_the_last_change(log_in):
    admin = log_in("admin")
    held = Held(admin.page, "**/groups/gpu/policy/preview/")
    admin.page.goto("/groups/gpu/policy/")
    held.wait(admin.page)

    admin.chooses("shadow")
    held.let_go()

    expect(admin.page.locator("#policy-sentence")).to_contain_text("Shadow", timeout=people.LIVE_MS)
    expect(admin.page.get_by_role("button", name="Switch to shadow")).to_be_visible()


def test_news_during_an_answer_are_asked_about_again(log_in, rest_after):
    carol = log_in("carol")
    page = carol.runs("newsworthy", group="batch", queue="normal", cores="1")
    held = Held(page, "**/*part=live")
    ring = f"document.body.dispatchEvent(new CustomEvent('xce:session-{people.session_id(page.url)}'))"
    page.evaluate(ring)
    held.wait(page)

    page.evaluate(ring)
    held.let_go()

    held.wait_for_another(page)
    expect(people.state_on(page)).to_have_text("Running")
