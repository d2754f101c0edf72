"""What people get wrong, or try: each gets its error where it was made, and nothing changes."""

from __future__ import annotations

import re

import pytest
from playwright import sync_api

from tests.browser import people

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
expect = sync_api.expect
_COUNT = "from scheduler import models; print(models.Session.objects.count())"
_EVENTS = (
    "from scheduler import models; print(models.Event.objects.filter(session__public_id='{session}').count())"
)
_OPTION = "select => select.add(new Option('nowhere', 'nowhere', true, true))"


def _send(person: people.Person) -> None:
    person.page.get_by_role("button", name="Submit session").click()


def test_amounts_and_priorities_are_refused_at_their_fields(stack, log_in):
    carol, before = log_in("carol"), int(stack.run(_COUNT))
    carol.fill("greedy", group="batch", queue="normal", memory="4x", priority="21")

    _send(carol)

    for name, text in (("slot-mem", "unknown unit"), ("priority", "21 is above 20")):
        expect(carol.page.locator(".field", has=carol.page.locator(f"[name={name}]"))).to_contain_text(text)
    assert int(stack.run(_COUNT)) == before


def test_a_queue_that_does_not_exist_is_refused_at_its_field(stack, log_in):
    carol, before = log_in("carol"), int(stack.run(_COUNT))
    carol.fill("lost", group="batch", queue="normal")
    carol.page.locator("#submit-form [name=queue]").evaluate(_OPTION)

    _send(carol)

    field = carol.page.locator(".field", has=carol.page.locator("[name=queue]"))
    expect(field).to_contain_text("“nowhere” is not there, or takes no sessions of yours")
    assert int(stack.run(_COUNT)) == before


def test_what_no_node_could_hold_is_told_before_and_after(log_in, rest_after):
    carol = log_in("carol")
    carol.fill("giant", group="batch", queue="normal", cores="9", memory="33g")
    told = "It can never run as asked: it needs"

    carol.page.locator("#submit-form [name=slot-mem]").blur()
    expect(carol.page.locator("#dry-run")).to_contain_text(told)
    expect(carol.page.locator("#dry-run")).to_contain_text("9 cores")
    carol.send("giant")

    sentence = carol.page.locator(".sentence").first
    expect(sentence).to_contain_text(told, timeout=people.SOON_MS)
    expect(sentence).to_contain_text("8 cores")
    expect(people.state_on(carol.page)).to_have_text("Pending")


def test_another_persons_session_is_not_there_and_not_theirs_to_end(stack, log_in, outsider, rest_after):
    alice, bob, oscar = log_in("alice"), log_in("bob"), log_in("oscar", outsider)
    tab = alice.runs("private-work", group="gpu", queue="normal", gpus="1")
    session = people.session_id(tab.url)
    events = int(stack.run(_EVENTS.format(session=session)))
    bob.page.goto(tab.url)

    assert bob.page.get_by_role("button", name="Cancel").count() == 0
    seen, unseen = _post_cancel(bob, tab.url), _post_cancel(oscar, tab.url)
    nobodys = oscar.page.goto("/sessions/0199aaaa-0000-7000-8000-000000000000/")
    words = _words(oscar.page)
    somebodys = oscar.page.goto(tab.url)

    assert (seen, unseen, nobodys.status, somebodys.status) == (403, 404, 404, 404)
    assert _words(oscar.page) == words
    tab.reload()
    expect(people.state_on(tab)).to_have_text("Running")
    assert int(stack.run(_EVENTS.format(session=session))) == events


def _words(page: sync_api.Page) -> str:
    """Return what a page says, without the number of its request."""
    return re.sub(r"Request [0-9a-f]{32}", "", page.locator("main").inner_text())


def _post_cancel(person: people.Person, url: str) -> int:
    """Send what the button sends, as a page of that person's own would; returns the status."""
    person.page.goto("/")
    return person.page.evaluate(
        """async address => {
            const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
            const body = new URLSearchParams({csrfmiddlewaretoken: token, reason: "because"});
            return (await fetch(address, {method: "POST", body, redirect: "manual"})).status;
        }""",
        url.rstrip("/") + "/act/cancel/",
    )
