"""Who may preempt whom, without a mouse: the cycle is said before anything is saved, and what is saved stays."""

from __future__ import annotations

import pytest
from playwright import sync_api

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
expect = sync_api.expect


def test_the_matrix_warns_of_a_cycle_by_keyboard_alone(stack, log_in, rest_after):
    page = log_in("admin").page
    page.goto("/queues/")
    graph = page.locator("#queue-graph")
    expect(graph.locator(".callout")).to_have_count(0)

    _reaches(page, "urgent can be preempted")
    page.keyboard.press("Space")
    _reaches(page, "background may stop sessions of urgent")
    page.keyboard.press("Space")

    expect(graph.locator(".callout")).to_contain_text("background and urgent may stop each other's sessions")
    expect(graph).to_contain_text("not saved yet")
    page.keyboard.press("Space")
    expect(graph.locator(".callout")).to_have_count(0)

    _reaches(page, "Reason")
    page.keyboard.type("Nobody outranks releases")
    page.keyboard.press("Enter")

    expect(page.get_by_text("new rules of urgent")).to_be_visible()
    expect(page.get_by_label("urgent can be preempted")).to_be_checked()
    expect(page.get_by_label("background may stop sessions of urgent")).not_to_be_checked()
    page.goto("/queues/urgent/")
    page.get_by_label("Its sessions can be preempted").uncheck()
    page.get_by_label("Reason, kept with the change").fill("As it was")
    page.get_by_role("button", name="Save the queue").click()
    expect(page.locator("dl.kv").first).to_contain_text("are never stopped for other queues")


def _reaches(page: sync_api.Page, label: str) -> None:
    """Press Tab until the field has the focus."""
    wanted = page.get_by_label(label).first
    for _ in range(60):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {label!r}")
