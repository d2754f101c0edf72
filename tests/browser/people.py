"""What a person does in the pages, in the words of the pages."""

from __future__ import annotations

import dataclasses
import pathlib
import re

from playwright import sync_api

from scheduler.demo import commands

expect = sync_api.expect
#: Milliseconds within which a change must reach a page that is open (issue: 5 s).
LIVE_MS = 5_000
#: The same for what takes processes to start first, on a machine that does much else.
SOON_MS = 30_000
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
        self.page.get_by_role("button", name="Submit session").click()
        expect(self.page.get_by_role("heading", level=1, name=name)).to_be_visible()
        return self.page.url

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
