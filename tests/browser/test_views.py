"""
Pictures of every page, light and dark, wide and narrow, of a cluster with something to see.

They go into the directory that XCE_SCREENS names, else into a temporary one. Each page is also checked by axe, and for
what sticks out of the window. By day each page shows one of two faces and no picture is taken; at night, or when
XCE_SCREENS asks for pictures, all four. CONTRIBUTING says how the README's picture is made.

They are looked at last of all in this directory, and leave their sessions as they are.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python import sync_playwright as axe
from playwright import sync_api

from tests.browser import people
from tests.browser import scene as scenes
from tests.system import stack as stacks

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
expect = sync_api.expect
#: GitHub shows it on every visit of the project.
README_LIMIT_BYTES = 250_000


def _nothing(_page: sync_api.Page) -> None:
    """Take the page as it comes."""


def _previews(page: sync_api.Page) -> None:
    """Choose *on* and wait for what it would do; nothing is saved."""
    page.locator("label:has(input[name=preemption_state][value=on])").click()
    expect(page.locator("#preview .plan").first).to_be_visible()
    expect(page.get_by_role("button", name="Turn on and stop 1 session")).to_be_visible()


def _asks(page: sync_api.Page) -> None:
    """Press a button that asks first."""
    page.get_by_role("button", name="Cancel").first.click()
    expect(page.locator("dialog[open]")).to_be_visible()


def _ticks(page: sync_api.Page) -> None:
    """Tick every row, and be asked about them; nothing is done."""
    page.get_by_text("Act on several").click()
    page.get_by_label("Tick every row here").check()
    page.get_by_role("button", name="Cancel …").click()
    expect(page.get_by_role("button", name=re.compile("Cancel [0-9]+ session"))).to_be_visible()


def _ticks_a_cycle(page: sync_api.Page) -> None:
    """Tick what lets two queues stop each other; nothing is saved."""
    for box in ("background may stop sessions of urgent", "urgent can be preempted"):
        page.get_by_label(box).check()
    expect(page.locator("#queue-graph .callout")).to_contain_text("background and urgent")


def _dry_runs(page: sync_api.Page) -> None:
    """Fill the form until the dry run answers."""
    for name, value in (("name", "train-vit"), ("command", "python train.py"), ("slot-cuda.device", "2")):
        page.locator(f'#submit-form [name="{name}"]').fill(value)
    page.locator("#submit-form [name=group]").select_option("gpu")
    page.locator("#submit-form [name=queue]").select_option("normal")
    expect(page.locator("#dry-run")).to_contain_text("2 GPUs")


def _filters(page: sync_api.Page) -> None:
    """Open the filters of a list of the console, by keyboard."""
    page.get_by_role("button", name="Filters").press("Enter")
    expect(page.get_by_role("dialog", name="Filters")).to_be_visible()


@dataclasses.dataclass(frozen=True)
class View:
    """One picture: who looks at which address, and what they do first."""

    who: str
    path: str
    poses: Callable[[sync_api.Page], None] = _nothing


VIEWS = {
    "log-in": View("", "/accounts/login/"),
    "overview": View("alice", "/"),
    "overview-admin": View("admin", "/"),
    "sessions": View("admin", "/sessions/"),
    "sessions-cancel": View("alice", "/sessions/?state=alive", _ticks),
    "submit": View("alice", "/sessions/new/", _dry_runs),
    "why-preempted": View("alice", "/sessions/{preempted}/"),
    "why-preempted-timeline": View("alice", "/sessions/{preempted}/timeline/"),
    "why-pending": View("bob", "/sessions/{pending}/"),
    "why-never": View("bob", "/sessions/{never}/"),
    "running": View("alice", "/sessions/{running}/"),
    "running-output": View("alice", "/sessions/{running}/output/"),
    "running-runs": View("alice", "/sessions/{running}/runs/"),
    "running-facts": View("alice", "/sessions/{running}/facts/"),
    "cancel-dialog": View("alice", "/sessions/{running}/", _asks),
    "anothers": View("bob", "/sessions/{preempted}/"),
    "group": View("admin", "/groups/gpu/"),
    "policy": View("admin", "/groups/gpu/policy/"),
    "policy-preview": View("admin", "/groups/batch/policy/", _previews),
    "policy-seen-by-a-user": View("bob", "/groups/gpu/policy/"),
    "queues": View("admin", "/queues/", _ticks_a_cycle),
    "queue": View("admin", "/queues/urgent/"),
    "queue-seen-by-a-user": View("bob", "/queues/normal/"),
    "nodes": View("admin", "/nodes/"),
    "node": View("admin", "/nodes/gpu-1/"),
    "node-keys": View("admin", "/nodes/gpu-1/keys/"),
    "decisions": View("admin", "/decisions/"),
    "decision": View("admin", "/decisions/{decision}/"),
    "first-steps-done": View("admin", "/first-steps/"),
    "admin": View("admin", "/admin/"),
    "admin-sessions": View("admin", "/admin/scheduler/session/", _filters),
    "reasons": View("bob", "/help/reasons/"),
    "design": View("bob", "/help/design/"),
    "not-found": View("bob", "/sessions/0199aaaa-0000-7000-8000-000000000000/"),
}
FACES = [
    pytest.param(1440, "light", id="1440-light"),
    pytest.param(1440, "dark", id="1440-dark", marks=pytest.mark.night),
    pytest.param(390, "light", id="390-light", marks=pytest.mark.night),
    pytest.param(390, "dark", id="390-dark"),
]


@pytest.fixture(scope="module")
def scene(stack: stacks.Stack) -> scenes.Scene:
    """A cluster with something to see."""
    return scenes.play(stack)


@pytest.mark.parametrize(("width", "theme"), FACES)
def test_every_page_is_drawn_and_accessible(log_in, scene, screens, width, theme):
    face = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
    persons = {name: log_in(name, **face) for name in sorted({view.who for view in VIEWS.values()} - {""})}
    stranger = persons["bob"].page.context.browser.new_page(**face, base_url=_base(persons["bob"]))
    pages = {name: person.page for name, person in persons.items()} | {"": stranger}

    found = {}
    for name, view in _views_of(theme):
        page = pages[view.who]
        _open(page, view, scene)
        found[name] = _faults(page, screens / f"{name}-{width}-{theme}.png")
    stranger.close()

    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.night
@pytest.mark.parametrize(("width", "theme"), FACES)
def test_an_empty_installation_says_what_comes_next(chromium, screens, empty_stack, width, theme):
    context = chromium.new_context(
        base_url=empty_stack.base_url, viewport={"width": width, "height": 900}, color_scheme=theme
    )
    admin = people.Person("admin", context.new_page())
    admin.log_in(empty_stack.logins["admin"]["password"])
    found = {}
    for name, path in {
        "first-steps": "/first-steps/",
        "overview-empty": "/",
        "sessions-empty": "/sessions/",
    }.items():
        admin.page.goto(path)
        found[name] = _faults(admin.page, screens / f"{name}-{width}-{theme}.png")
    context.close()

    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.fixture(scope="module")
def empty_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stacks.Stack]:
    """What `--no-demo` starts."""
    with stacks.running(tmp_path_factory.mktemp("empty"), "--no-demo") as running:
        yield running


def test_the_picture_of_the_readme_is_small(log_in, scene, screens):
    alice = log_in("alice", viewport={"width": 1280, "height": 860}, color_scheme="light")
    alice.page.goto(f"/sessions/{scene.preempted}/")
    expect(alice.page.locator(".sentence")).to_contain_text("could start on gpu-1")
    expect(alice.page.locator("[data-live-word]")).to_have_text("Live")
    picture = screens / "why-preempted.png"

    alice.page.screenshot(path=picture)

    assert picture.stat().st_size < README_LIMIT_BYTES


def _views_of(theme: str) -> list[tuple[str, View]]:
    """Return what is looked at in one theme: by day by turns."""
    views = list(VIEWS.items())
    if _takes_pictures():
        return views
    return views[::2] if theme == "light" else views[1::2]


def _takes_pictures() -> bool:
    return bool(os.environ.get("XCE_NIGHT") or os.environ.get("XCE_SCREENS"))


def _base(person: people.Person) -> str:
    return person.page.evaluate("location.origin")


def _open(page: sync_api.Page, view: View, scene: scenes.Scene) -> None:
    answer = page.goto(view.path.format(**dataclasses.asdict(scene)))
    assert answer is not None
    assert answer.status == (404 if "0199aaaa" in view.path else 200)
    view.poses(page)


def _faults(page: sync_api.Page, picture: pathlib.Path) -> list[str]:
    expect(page.locator("header h1, main h1, main h2").first).to_be_visible()
    expect(page.locator("main [hx-post] [aria-busy=true]")).to_have_count(0)
    if _takes_pictures():
        page.screenshot(path=picture, full_page=True, caret="initial")
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    texts = [f"{each['id']}: {each['help']}" for each in axe.Axe().run(page).response["violations"]]
    return texts + ([f"{overflow} px wider than the window"] if overflow > 0 else [])
