"""What a person does in the pages, in the words of the pages."""

from __future__ import annotations

import dataclasses
import pathlib
import re

from playwright import sync_api

from scheduler.demo import commands

expect = sync_api.expect
#: Milliseconds within which a change must reach a page that is open.
LIVE_MS = 5_000
#: The same for what may take its time: no promise is measured with it.
SOON_MS = 90_000
#: What the tests fill in -> the form's own name of it.
FIELDS = {
    "command": "command",
    "gpus": "slot-cuda.device",
    "cores": "slot-cpu",
    "memory": "slot-mem",
    "priority": "priority",
    "rank": "job_priority",
}


@dataclasses.dataclass
class Person:
    """Somebody who is logged in; ``page`` is what they look at."""

    name: str
    page: sync_api.Page

    def log_in(self, password: str) -> None:
        """Log in by the form."""
        self.page.goto("/accounts/login/")
        self.page.get_by_label("Username").fill(self.name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page).not_to_have_url(re.compile("/accounts/login/"))

    def submit(self, name: str, *, group: str, queue: str, **fields: str) -> str:
        """Submit a session by the form, ``fields`` by the names of FIELDS; returns its address."""
        self.fill(name, group=group, queue=queue, **fields)
        return self.send(name)

    def send(self, name: str) -> str:
        """Send the form that is filled in; returns the address of the new session, whose page is open then."""
        self.page.get_by_role("button", name="Submit session").click()
        expect(self.page.get_by_role("heading", level=1, name=name)).to_be_visible()
        return self.page.url

    def runs(self, name: str, **fields: str) -> sync_api.Page:
        """Submit a session and wait until its own page, in a tab that stays open, says that it runs."""
        tab = self.opens(self.submit(name, **fields))
        expect(state_on(tab)).to_have_text("Running", timeout=SOON_MS)
        return tab

    def switches(self, group: str, state: str, *, reason: str) -> None:
        """Put another state of preemption into force, with its reason."""
        self.page.goto(f"/groups/{group}/policy/")
        self.chooses(state)
        self.page.get_by_label("Reason").fill(reason)
        self.saves_policy()
        expect(self.page.locator("#policy-form .switch .segmented label", has_text="now")).to_contain_text(
            re.compile(state, re.IGNORECASE)
        )

    def chooses(self, state: str) -> None:
        """Choose a state of preemption on the policy page that is open, which changes nothing yet."""
        self.page.locator(f"label:has(input[name=preemption_state][value={state}])").click()

    def saves_policy(self) -> None:
        """Press the button of the policy page, whatever it is called now."""
        self.page.locator("#policy-form button[type=submit]").first.click()

    def fill(self, name: str, *, group: str, queue: str, **fields: str) -> None:
        """Fill the form; without a command it is a program that counts on for ten minutes."""
        self.page.goto("/sessions/new/")
        fields.setdefault("command", " ".join(commands.compute("pi", steps=600, seed=1)))
        self._field("name").fill(name)
        self._field("group").select_option(group)
        self._field("queue").select_option(queue)
        for field, text in fields.items():
            self._field(FIELDS[field]).fill(text)

    def _field(self, name: str) -> sync_api.Locator:
        return self.page.locator(f'#submit-form [name="{name}"]')

    def opens(self, url: str) -> sync_api.Page:
        """Open an address in a tab of its own, which stays open."""
        page = self.page.context.new_page()
        page.goto(url)
        return page


def state_on(page: sync_api.Page) -> sync_api.Locator:
    """Return the chip that says the session's state, in the page's head."""
    return page.locator("#session-live .page-head .chip").first


def act(page: sync_api.Page, name: str) -> None:
    """Press a button of the session's page, and confirm where it asks."""
    page.get_by_role("button", name=re.compile(f"^{name}")).first.click()
    confirm = page.locator("dialog[open] button[type=submit]")
    if confirm.count():
        confirm.first.click()


def steps_of(page: sync_api.Page) -> list[int]:
    """Return the numbers that a session's program has counted so far, from its output, read in a tab of its own."""
    tab = page.context.new_page()
    tab.goto(page.url.rstrip("/") + "/output/")
    text = tab.locator("#session-live").inner_text()
    tab.close()
    return [int(number) for number in re.findall(r"^step (\d+)/", text, re.MULTILINE)]


def session_id(url: str) -> str:
    """Return the session's id out of its address."""
    found = re.search(r"/sessions/([0-9a-f-]{36})/", url)
    assert found, url
    return found[1]


def members(session: str) -> dict[int, str]:
    """Return the processes of a session, by its environment: pid -> state letter."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environ = (entry / "environ").read_bytes().split(b"\0")
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if f"XCE_SESSION_ID={session}".encode() in environ:
            found[int(entry.name)] = stat[0]
    return found
