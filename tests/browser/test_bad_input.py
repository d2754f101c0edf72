"""What people get wrong, or try: each gets its error where it was made, and nothing changes."""

from __future__ import annotations

import pytest
from playwright import sync_api

from tests.browser import people
from tests.system import stack as stacks

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
expect = sync_api.expect
_COUNT = "from scheduler import models; print(models.Session.objects.count())"
_OPTION = "select => select.add(new Option('nowhere', 'nowhere', true, true))"


def _sessions(stack: stacks.Stack) -> int:
    counted = stack.manage("shell", "-v0", "-c", _COUNT)
    assert counted.returncode == 0, counted.stderr
    return int(counted.stdout)


def _send(person: people.Person) -> None:
    person.page.get_by_role("button", name="Submit session").click()


def test_amounts_and_priorities_are_refused_at_their_fields(stack, log_in):
    carol, before = log_in("carol"), _sessions(stack)
    carol.fill("greedy", group="batch", queue="normal", memory="4x", priority="21")

    _send(carol)

    expect(carol.page.locator("main")).to_contain_text("unknown unit")
    expect(carol.page.locator("main")).to_contain_text("21 is above 20")
    assert _sessions(stack) == before


def test_a_queue_that_does_not_exist_is_refused_at_its_field(stack, log_in):
    carol, before = log_in("carol"), _sessions(stack)
    carol.fill("lost", group="batch", queue="normal")
    carol.page.locator("#submit-form [name=queue]").evaluate(_OPTION)

    _send(carol)

    field = carol.page.locator(".field", has=carol.page.locator("[name=queue]"))
    expect(field).to_contain_text("nowhere is not one of the available choices")
    assert _sessions(stack) == before
