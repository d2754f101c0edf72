"""The switch before it is on: off stops nobody and only previews, shadow writes down once what it would have done."""

from __future__ import annotations

import json
import re

import pytest
from playwright import sync_api

from tests.browser import people
from tests.system import stack as stacks

pytestmark = [pytest.mark.browser, pytest.mark.timeout(480)]
expect = sync_api.expect
_LOOK = """
import json
from scheduler import models
session = models.Session.objects.get(public_id="{session}")
counts = models.ShadowCount.objects.filter(decision__session=session)
print(json.dumps({{
    "round": session.group.rounds_state.last_number,
    "decisions": list(models.Decision.objects.filter(session=session).values_list("kind", flat=True)),
    "seen": sum(row.count for row in counts),
}}))
"""


def _look(stack: stacks.Stack, session: str) -> dict[str, object]:
    return json.loads(stack.run(_LOOK.format(session=session)))


def test_off_stops_nobody_and_shadow_records_once(stack, log_in, rest_after):
    admin, alice = log_in("admin"), log_in("alice")
    lows = [alice.runs(f"calm-{i}", group="gpu", queue="normal", gpus="4", rank="1") for i in (1, 2)]
    eager = people.session_id(alice.submit("eager", group="gpu", queue="normal", gpus="4", rank="20"))
    expect(alice.page.locator(".sentence")).to_contain_text("4 GPUs short", timeout=people.SOON_MS)

    first = _look(stack, eager)
    stacks.until(lambda: _look(stack, eager)["round"] >= first["round"] + 3, what="three more rounds")
    assert _look(stack, eager)["decisions"] == []
    assert _states(lows) == ["Running", "Running"]
    _check_preview(admin)

    admin.switches("gpu", "shadow", reason="Let us look first")

    stacks.until(lambda: _look(stack, eager)["seen"] >= 3, what="three rounds that would have stopped it")
    assert _look(stack, eager)["decisions"] == ["shadow"]
    admin.page.goto("/decisions/")
    expect(admin.page.locator("tbody tr", has_text="eager")).to_have_count(1)
    expect(admin.page.locator("tbody tr", has_text="eager")).to_contain_text(
        re.compile("shadow", re.IGNORECASE)
    )
    assert _states(lows) == ["Running", "Running"]
    expect(people.state_on(alice.page)).to_have_text("Pending")


_IS_DUE = """
from django.utils import timezone
from scheduler import models
models.PlannedChange.objects.filter(ended_at=None).update(at=timezone.now())
"""


def test_on_for_two_hours_goes_back_by_itself(stack, log_in, rest_after):
    admin, other = log_in("admin"), log_in("admin")
    other.page.goto("/groups/batch/policy/")
    admin.page.goto("/groups/batch/policy/")
    admin.chooses("on")
    admin.page.get_by_label("Reason").fill("A trial for the storage move")
    admin.page.get_by_text("For a while, then back").click()
    admin.page.get_by_label("For how long").fill("2")
    admin.saves_policy()
    planned = admin.page.get_by_role("region", name="Planned change")
    expect(planned).to_contain_text("Goes back to off by itself")
    expect(planned).to_contain_text("in 1 h 59 min")

    other.chooses("shadow")
    other.page.get_by_label("Reason").fill("I did not see the trial")
    other.saves_policy()
    expect(other.page.locator("#conflict-h")).to_have_text("admin was faster")
    expect(other.page.get_by_role("row", name=re.compile("Preemption.*both changed it"))).to_contain_text(
        "off"
    )

    stack.run(_IS_DUE)

    def is_back() -> bool:
        admin.page.goto("/groups/batch/policy/")
        return "Back after 2 hours, as admin set in version" in admin.page.locator("#history").inner_text()

    stacks.until(is_back, what="the way back")
    admin.page.reload()  # the change may have come between the rules and the history of the page that told of it
    expect(admin.page.locator(".switch .segmented label", has_text="now")).to_contain_text("Off")


def _states(pages: list[sync_api.Page]) -> list[str]:
    return [people.state_on(page).inner_text() for page in pages]


def _check_preview(admin: people.Person) -> None:
    """What would happen if it were on, for whom, and what the button would do; nothing is saved."""
    admin.page.goto("/groups/gpu/policy/")
    admin.chooses("on")
    preview = admin.page.locator("#preview")
    expect(preview.locator(".plan")).to_contain_text("eager", timeout=people.SOON_MS)
    expect(preview.locator(".plan tbody tr")).to_contain_text("calm-1")
    expect(admin.page.locator("#policy-sentence")).to_contain_text(
        "would stop 1 session so that 1 session can start"
    )
    expect(admin.page.get_by_role("button", name="Turn on and stop 1 session")).to_be_visible()
