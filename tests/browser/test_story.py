"""
The story that the product is judged by, told by three people: the switch, the stop, the reason, the return.

Nothing is reloaded: what changes, changes on the page that is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright import sync_api

from tests.browser import people
from tests.system import stack as stacks

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
expect = sync_api.expect
WIDE = {"width": 1440, "height": 900}


def _switch(admin: people.Person, group: str, state: str, reason: str) -> None:
    page = admin.page
    page.goto(f"/groups/{group}/policy/")
    page.locator(f"label:has(input[name=preemption_state][value={state}])").click()
    page.get_by_label("Reason").fill(reason)
    page.locator("#policy-form button[type=submit]").first.click()
    expect(page.locator("#policy-form .segmented").locator("label", has_text="now")).to_contain_text(
        re.compile(state, re.IGNORECASE)
    )


@pytest.fixture
def switched_off_after(log_in, stack: stacks.Stack) -> Iterator[None]:
    """Cancel what a test left alive and switch its groups off again."""
    yield
    script = (
        "from scheduler import models\n"
        "from scheduler.services import actors, control, policies\n"
        "me = actors.of_command('test')\n"
        "for s in models.Session.objects.exclude(state__in=('terminated', 'terminating')):\n"
        "    control.cancel_session(me, s)\n"
        "for g in models.ResourceGroup.objects.exclude(policy__preemption_state='off').select_related('policy'):\n"
        "    policies.change_policy(me, g, changes={'preemption_state': 'off'}, reason='test over',"
        " expected_version=g.policy.version)\n"
    )
    assert stack.manage("shell", "-v0", "-c", script).returncode == 0

    def rests() -> bool:
        return stack.manage("verify_invariants", "--settled").returncode == 0

    stacks.until(rests, what="everything at rest and the ledgers clean", deadline_s=60)


def _run_low(person: people.Person, name: str, **fields: str) -> sync_api.Page:
    """Submit a session and wait, on its own page, until it runs; the tab stays open."""
    url = person.submit(name, **fields)
    page = person.opens(url)
    expect(people.state_on(page)).to_have_text("Running", timeout=people.SOON_MS)
    return page


def _counter(page: sync_api.Page) -> int:
    """Return the last counter in a session's output, read in a tab of its own."""
    tab = page.context.new_page()
    tab.goto(page.url.rstrip("/") + "/output/")
    text = tab.locator("#session-live").inner_text()
    tab.close()
    steps = re.findall(r"step (\d+)", text)
    return int(steps[-1]) if steps else 0


def test_suspend_on_the_owner_axis_is_seen_explained_and_undone(
    stack, log_in, outsider, screens, switched_off_after
):
    admin, alice, bob = log_in("admin"), log_in("alice", viewport=WIDE), log_in("bob")
    low_pages = [_run_low(alice, f"low-{i}", group="gpu", queue="normal", gpus="4", rank="1") for i in (1, 2)]
    waiting = alice.submit("hello", group="gpu", queue="normal", gpus="4", rank="20")
    expect(people.state_on(alice.page)).to_have_text("Pending", timeout=people.SOON_MS)

    # The administrator looks before switching, and may not switch without a reason.
    admin.page.goto("/groups/gpu/policy/")
    expect(admin.page.locator("#policy-preview, main").first).to_contain_text("low-", timeout=people.SOON_MS)
    admin.page.locator("label:has(input[name=preemption_state][value=on])").click()
    admin.page.locator("#policy-form button[type=submit]").first.click()
    assert stack.manage("shell", "-v0", "-c", _STATE.format(group="gpu")).stdout.strip() == "off"
    _switch(admin, "gpu", "on", "A demonstration at noon")

    # Alice's page follows without a reload: the new one runs, one of the lower ones is suspended.
    expect(people.state_on(alice.page)).to_have_text("Running", timeout=people.SOON_MS)
    victim = next(
        page for page in low_pages if people.state_on(page).inner_text(timeout=people.LIVE_MS) != "Running"
    )
    expect(people.state_on(victim)).to_have_text("Suspended", timeout=people.LIVE_MS)
    other = next(page for page in low_pages if page is not victim)
    assert people.state_on(other).inner_text() == "Running"

    # Why: one sentence with both numbers; the time line has PREEMPTED before SUSPENDED.
    sentence = victim.locator(".sentence").first
    expect(sentence).to_contain_text("20")
    expect(sentence).to_contain_text(re.compile(r"\b1\b"))
    rail = victim.locator(".rail").inner_text()
    assert rail.index("Preempted") < rail.index("Suspended")
    tab = alice.opens(victim.url.rstrip("/") + "/timeline/")
    timeline = tab.locator(".timeline").first.inner_text()
    assert timeline.index("being stopped to make room") < timeline.index("suspended")

    # The processes are stopped, all of them, and the counter stands still.
    processes = people.members(people.session_id(victim.url))
    assert processes
    assert set(processes.values()) == {"T"}
    stood_at = _counter(victim)

    for theme in ("light", "dark"):
        victim.emulate_media(color_scheme=theme)
        victim.screenshot(path=screens / f"why-preempted-1440-{theme}.png", full_page=True, caret="initial")

    # Bob sees state, size, queue and times; an outsider sees nothing.
    bob.page.goto(victim.url)
    body = bob.page.locator("main").inner_text()
    assert "Suspended" in body
    assert "pi.py" not in body
    assert "low-" not in body
    assert "alice" not in body
    oscar = log_in("oscar", outsider)
    assert oscar.page.goto(victim.url).status == 404

    # The new one ends: the victim runs again and goes on from where it stood.
    alice.page.goto(waiting)
    alice.page.on("dialog", lambda dialog: dialog.accept())
    _act(alice.page, "Cancel")
    expect(people.state_on(victim)).to_have_text("Running", timeout=people.SOON_MS)
    stacks.until(lambda: _counter(victim) > stood_at, what="a counter that goes on", deadline_s=30)
    assert people.session_id(victim.url) in victim.url
    assert stood_at >= 1


_STATE = (
    "from scheduler import models; "
    "print(models.ResourceGroup.objects.get(slug='{group}').policy.preemption_state)"
)


def _act(page: sync_api.Page, name: str) -> None:
    """Press a button of the session's page, and confirm where it asks."""
    page.get_by_role("button", name=re.compile(f"^{name}")).first.click()
    confirm = page.locator("dialog[open] button[type=submit]")
    if confirm.count():
        confirm.first.click()


def test_reschedule_on_the_queue_axis_goes_on_from_the_checkpoint(stack, log_in, switched_off_after):
    admin, alice, bob = log_in("admin"), log_in("alice"), log_in("bob")
    lows = [
        _run_low(bob, f"slow-{i}", group="batch", queue="background", cores="8", priority="5") for i in (1, 2)
    ]
    stacks.until(lambda: min(_counter(page) for page in lows) >= 2, what="counters that move", deadline_s=60)
    _switch(admin, "batch", "on", "Urgent work first")

    alice.submit("pressing", group="batch", queue="urgent", cores="8", priority="60")

    expect(people.state_on(alice.page)).to_have_text("Running", timeout=people.SOON_MS)
    victim = next(page for page in lows if "Running" not in people.state_on(page).inner_text())
    expect(people.state_on(victim)).to_contain_text("Pending", timeout=people.LIVE_MS)
    sentence = victim.locator(".sentence").first
    expect(sentence).to_contain_text("60")
    expect(sentence).to_contain_text(re.compile(r"\b5\b"))
    body = victim.locator("main").inner_text()
    assert "urgent" in body
    assert "pressing" not in body
    assert "alice" not in body
    _act(alice.page, "Cancel")
    expect(people.state_on(victim)).to_contain_text("Running", timeout=people.SOON_MS)
    tab = bob.opens(victim.url.rstrip("/") + "/output/")
    expect(tab.locator("#session-live")).to_contain_text("resumed from checkpoint", timeout=people.SOON_MS)


def test_shadow_records_what_would_have_been_and_stops_nobody(stack, log_in, switched_off_after):
    admin, alice = log_in("admin"), log_in("alice")
    lows = [_run_low(alice, f"calm-{i}", group="gpu", queue="normal", gpus="4", rank="1") for i in (1, 2)]
    _switch(admin, "gpu", "shadow", "Let us look first")

    alice.submit("eager", group="gpu", queue="normal", gpus="4", rank="20")

    admin.page.goto("/decisions/")
    expect(admin.page.locator("main")).to_contain_text(
        re.compile("shadow", re.IGNORECASE), timeout=people.SOON_MS
    )
    assert [people.state_on(page).inner_text() for page in lows] == ["Running", "Running"]
    expect(people.state_on(alice.page)).to_have_text("Pending")


def test_bad_input_gets_its_error_where_it_was_made(stack, log_in):
    carol = log_in("carol")
    carol.fill("greedy", group="batch", queue="normal", memory="4x", priority="21")

    carol.page.get_by_role("button", name="Submit session").click()

    expect(carol.page.locator("main")).to_contain_text("unknown unit")
    expect(carol.page.locator("main")).to_contain_text("21 is above 20")
    assert carol.page.goto("/sessions/0199aaaa-0000-7000-8000-000000000000/").status == 404
