"""
The story that the product is judged by, told by several people: the switch, the stop, the reason, the return.

Nothing is reloaded: what changes, changes on the page that is open.
"""

from __future__ import annotations

import dataclasses
import re
import time

import pytest
from playwright import sync_api

from tests.browser import people
from tests.system import stack as stacks

pytestmark = [pytest.mark.browser, pytest.mark.timeout(480)]
expect = sync_api.expect
WIDE = {"width": 1440, "height": 900}
Fields = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Plot:
    """One way in which a session of `gpu` is stopped for Alice's: whose it is, what both ask, what is said."""

    owner: str
    onlooker: str
    low: Fields
    high: Fields
    sentence: str


PLOTS = {
    "owner": Plot(
        "alice",
        "bob",
        low={"queue": "normal", "rank": "1"},
        high={"queue": "normal", "rank": "20"},
        sentence=r"so that a session of queue normal with job priority 20 could start on gpu-\d; yours was 1\.",
    ),
    "queue": Plot(
        "bob",
        "carol",
        low={"queue": "background", "priority": "5"},
        high={"queue": "urgent", "priority": "60"},
        sentence=r"so that a session of queue urgent with priority 60 could start on gpu-\d; yours was 5\.",
    ),
}
#: Set on a page; gone as soon as the page is loaded anew.
_MARK = "window.isTheSamePage = true"
_IS_MARKED = "window.isTheSamePage === true"


@pytest.mark.parametrize("axis", PLOTS)
def test_a_suspended_session_is_seen_explained_and_goes_on(stack, log_in, outsider, rest_after, axis):
    plot = PLOTS[axis]
    people_of = {name: log_in(name) for name in ("admin", "alice", plot.owner, plot.onlooker)}
    alice = people_of["alice"]
    lows = [people_of[plot.owner].runs(f"low-{i}", group="gpu", gpus="4", **plot.low) for i in (1, 2)]
    counted = [_counts(page) for page in lows]
    _look_and_switch_on(stack, people_of["admin"])

    victim = _preempt_in_time(alice, lows, plot.high)

    other = next(page for page in lows if page is not victim)
    assert people.state_on(other).inner_text() == "Running"
    expect(victim.locator(".sentence")).to_have_text(re.compile(plot.sentence))
    _check_timeline(victim)
    stood_at, processes = _stands_still(victim)
    assert stood_at >= counted[lows.index(victim)]
    _check_what_others_see(people_of[plot.onlooker], log_in("oscar", outsider), victim)
    if plot.owner != "alice":
        _check_nothing_of(victim, "alice", "hello")

    people.act(alice.page, "Cancel")

    expect(people.state_on(victim)).to_have_text("Running", timeout=people.SOON_MS)
    assert victim.evaluate(_IS_MARKED)
    stacks.until(lambda: people.steps_of(victim)[-1] > stood_at, what="a counter that goes on", deadline_s=90)
    steps = people.steps_of(victim)
    assert steps == list(range(1, len(steps) + 1))
    assert people.members(people.session_id(victim.url)).keys() == processes


def _counts(page: sync_api.Page) -> int:
    """Wait until a session's program has counted something; returns how far it is."""
    return stacks.until(lambda: people.steps_of(page), what="a counter that moves", deadline_s=90)[-1]


def _look_and_switch_on(stack: stacks.Stack, admin: people.Person) -> None:
    """The administrator looks at the preview, is not let through without a reason, and gives one."""
    admin.page.goto("/groups/gpu/policy/")
    admin.chooses("on")
    expect(admin.page.locator("#preview")).to_contain_text(
        "Nobody. No waiting session", timeout=people.SOON_MS
    )
    expect(admin.page.locator("#policy-sentence")).to_contain_text("nobody would be stopped now")
    admin.saves_policy()
    assert stack.run(_STATE).strip() == "off"
    admin.switches("gpu", "on", reason="A demonstration at noon")


_STATE = "from scheduler import models; print(models.ResourceGroup.objects.get(slug='gpu').policy.preemption_state)"


def _preempt_in_time(alice: people.Person, lows: list[sync_api.Page], high: Fields) -> sync_api.Page:
    """
    Submit the higher session: five seconds after its page is there the pages that are open have told what happened.

    That time is the promise, so it alone is measured here. A machine that does much else may miss it once: then the
    session is cancelled, everything returns to what it was, and it is tried once more with another session.

    Returns:
        The page of the session that was suspended.
    """
    for page in lows:
        page.evaluate(_MARK)
    try:
        return _preempt(alice, lows, high)
    except AssertionError:
        people.act(alice.page, "Cancel")
        for page in lows:
            expect(people.state_on(page)).to_have_text("Running", timeout=people.SOON_MS)
        return _preempt(alice, lows, high)


def _preempt(alice: people.Person, lows: list[sync_api.Page], high: Fields) -> sync_api.Page:
    alice.fill("hello", group="gpu", gpus="4", **high)
    alice.send("hello")
    end = time.monotonic() + people.LIVE_MS / 1000
    alice.page.evaluate(_MARK)
    expect(people.state_on(alice.page)).to_have_text("Running", timeout=_left_ms(end))
    victim = stacks.until(
        lambda: next((page for page in lows if people.state_on(page).inner_text() == "Suspended"), None),
        what="a session that is suspended",
        deadline_s=_left_ms(end) / 1000,
    )
    in_order = re.compile("Running.*Preempted.*Suspended", re.DOTALL)
    expect(victim.locator(".rail")).to_contain_text(in_order, timeout=_left_ms(end))
    assert alice.page.evaluate(_IS_MARKED)
    assert victim.evaluate(_IS_MARKED)
    return victim


def _left_ms(end: float) -> float:
    """Return what is left until a moment; never 0, which Playwright takes for no limit."""
    return max(1, (end - time.monotonic()) * 1000)


def _check_timeline(victim: sync_api.Page) -> None:
    tab = victim.context.new_page()
    tab.goto(victim.url.rstrip("/") + "/timeline/")
    text = tab.locator(".timeline").first.inner_text()
    tab.close()
    assert text.index("being stopped to make room") < text.index("suspended")


def _stands_still(victim: sync_api.Page) -> tuple[int, set[int]]:
    """All processes are stopped and the counter stands; returns its number, and the processes."""
    processes = people.members(people.session_id(victim.url))
    assert processes
    assert set(processes.values()) == {"T"}
    return people.steps_of(victim)[-1], set(processes)


def _check_what_others_see(onlooker: people.Person, oscar: people.Person, victim: sync_api.Page) -> None:
    """A submitter or viewer of the group sees state, size, queue and times only; an outsider sees nothing."""
    onlooker.page.goto(victim.url)
    main = onlooker.page.locator("main")
    expect(people.state_on(onlooker.page)).to_have_text("Suspended")
    expect(main.locator("time").first).to_be_visible()
    body = main.inner_text()
    assert "4 GPUs" in body
    _check_nothing_of(onlooker.page, "low-", "pi.py", "step ", "alice", "bob", "hello")
    for tab in ("output", "facts", "runs", "timeline"):
        onlooker.page.goto(f"{victim.url.rstrip('/')}/{tab}/")
        _check_nothing_of(onlooker.page, "low-", "pi.py", "step ", "alice", "bob", "hello")
    answer = oscar.page.goto(victim.url)
    assert answer is not None
    assert answer.status == 404
    _check_nothing_of(oscar.page, "low-", "gpu", "Suspended")


def _check_nothing_of(page: sync_api.Page, *secrets: str) -> None:
    body = page.locator("main").inner_text()
    assert [word for word in secrets if word in body] == []


def test_a_rescheduled_session_goes_on_from_its_checkpoint(log_in, rest_after):
    admin, alice, bob = log_in("admin"), log_in("alice"), log_in("bob")
    low = {"group": "batch", "queue": "background", "cores": "8", "priority": "5"}
    lows = [bob.runs(f"slow-{i}", **low) for i in (1, 2)]
    stacks.until(lambda: min(_counts(page) for page in lows) >= 2, what="counters that move", deadline_s=90)
    admin.switches("batch", "on", reason="Urgent work first")

    alice.submit("pressing", group="batch", queue="urgent", cores="8", priority="60")

    expect(people.state_on(alice.page)).to_have_text("Running", timeout=people.SOON_MS)
    victim = stacks.until(
        lambda: next(
            (page for page in lows if people.state_on(page).inner_text().startswith("Pending")), None
        ),
        what="a session back in its queue",
        deadline_s=90,
    )
    expect(victim.locator(".sentence").first).to_have_text(
        re.compile(
            r"so that a session of queue urgent with priority 60 could start on batch-\d; yours was 5\."
        )
    )
    _check_nothing_of(victim, "pressing", "alice")
    assert people.members(people.session_id(victim.url)) == {}
    people.act(alice.page, "Cancel")
    expect(people.state_on(victim)).to_have_text("Running, attempt 2", timeout=people.SOON_MS)
    tab = bob.opens(victim.url.rstrip("/") + "/output/")
    expect(tab.locator("#session-live")).to_contain_text("resumed from checkpoint", timeout=people.SOON_MS)
    stacks.until(lambda: people.steps_of(victim), what="steps of the second attempt", deadline_s=90)
    assert people.steps_of(victim)[0] > 2
