"""
A stack of its own, without the demo's stream, and people who look at it through Chromium.

Every page that these tests open is watched: an error in the console, a report of the content security policy or a
request that leaves loopback fails the test.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import urllib.parse
from collections.abc import Callable, Iterator

import pytest
from playwright import sync_api

from tests import browsers
from tests.browser import people
from tests.system import stack as stacks

LIMIT_MS = 20_000
#: A status that a test expects, and fragments that were under way when their page was left.
HARMLESS = ("Failed to load resource", "htmx:afterRequest", "htmx:sendAbort", "htmx:sendError")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Look at the views last, whatever the order of the others: what they leave in the stack is nobody's trouble."""
    items.sort(key=lambda item: item.path.name == "test_views.py")


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stacks.Stack]:
    """The demo cluster without its stream: nothing runs but what the tests submit."""
    with stacks.running(tmp_path_factory.mktemp("browser"), environ={"XCE_DEMO_STREAM": "0"}) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[sync_api.Browser]:
    """Debian's Chromium, headless."""
    path = browsers.find()
    assert path, browsers.HOW_TO_GET
    arguments = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def log_in(stack: stacks.Stack, chromium: sync_api.Browser) -> Iterator[Callable[..., people.Person]]:
    """Return a function that logs a person in, in a browser context of their own."""
    faults: list[str] = []
    with contextlib.ExitStack() as closing:

        def enter(username: str, password: str = "", **options: object) -> people.Person:
            context = chromium.new_context(base_url=stack.base_url, **options)
            closing.callback(context.close)
            context.set_default_timeout(LIMIT_MS)
            _watch(context, faults)
            person = people.Person(username, context.new_page())
            person.log_in(password or stack.logins[username]["password"])
            return person

        yield enter
    assert faults == []


def _watch(context: sync_api.BrowserContext, faults: list[str]) -> None:
    def on_console(message: sync_api.ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(HARMLESS):
            faults.append(f"console: {message.text}")

    def on_request(request: sync_api.Request) -> None:
        if urllib.parse.urlsplit(request.url).hostname not in ("127.0.0.1", None):
            faults.append(f"request leaves loopback: {request.url}")

    context.on("console", on_console)
    context.on("request", on_request)
    context.on("weberror", lambda error: faults.append(f"script: {error.error}"))


_CLEAN = """
from scheduler import models
from scheduler.services import actors, control, policies
me = actors.of_command("test")
for session in models.Session.objects.exclude(state__in=("terminated", "terminating")):
    control.cancel_session(me, session)
for group in models.ResourceGroup.objects.exclude(policy__preemption_state="off").select_related("policy"):
    policies.change_policy(
        me, group, changes={"preemption_state": "off"}, reason="test over", expected_version=group.policy.version
    )
"""
_FINDINGS = """
import json
from scheduler.selectors import consistency
print(json.dumps(consistency.findings() + consistency.unsettled()))
"""


@pytest.fixture
def rest_after(log_in: Callable[..., people.Person], stack: stacks.Stack) -> Iterator[None]:
    """Cancel what a test left alive, switch its groups off again, and wait for clean ledgers."""
    yield
    bring_to_rest(stack)


def bring_to_rest(stack: stacks.Stack) -> None:
    """Cancel everything, switch preemption off everywhere, and wait until the ledgers are clean."""
    stack.run(_CLEAN)
    stacks.until(
        lambda: json.loads(stack.run(_FINDINGS)) == [],
        what="everything at rest and the ledgers clean",
        deadline_s=120,
    )


@pytest.fixture
def outsider(stack: stacks.Stack) -> str:
    """A person without any role; returns the password of `oscar`."""
    password = "an-outsider-looks-in"
    stack.run(
        "from scheduler import models\n"
        "from scheduler.services import actors, people\n"
        "if not models.User.objects.filter(username='oscar').exists():\n"
        f"    people.create_user(actors.of_command('test'), 'oscar', password={password!r})"
    )
    return password


@pytest.fixture(scope="session")
def screens(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The directory that the pictures go into."""
    named = os.environ.get("XCE_SCREENS")
    directory = pathlib.Path(named) if named else tmp_path_factory.mktemp("screens")
    directory.mkdir(parents=True, exist_ok=True)
    return directory
