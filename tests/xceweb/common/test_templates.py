"""Every page with every sample: it renders, it obeys the content policy, it has what assistive tools need."""

import collections
import functools
import re
from html import parser

import pytest
from django import test
from django.conf import settings
from django.template import loader
from django.template.backends import django

from tests.xceweb.common.samples import pages

TEMPLATES = settings.BASE_DIR / "templates"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
FAMILIES = ("accounts", "common", "console", "dashboard", "help")


#: What comes from the request.
FRAME = {"theme": "dark", "csrf_token": "t", "request": test.RequestFactory().get("/x/")}
#: Names that a template gives a default to.
WITH_DEFAULTS = {"held_label", "preview.confirm_label", "detail"}
STRICT = django.DjangoTemplates(
    {
        "NAME": "strict",
        "DIRS": [TEMPLATES],
        "APP_DIRS": True,
        "OPTIONS": {"string_if_invalid": "(missing: %s)"},
    }
)


class Page(parser.HTMLParser):
    """Collects tags with their attributes, and counts tags that stay open or close what is not open."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.open, self.faults, self.inline = [], [], [], ""
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.faults.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] in {"script", "style"}:
            self.inline += data.strip()


@functools.cache
def _rendered(name):
    template, build = pages.PAGES[name]
    return Page(loader.render_to_string(template, {**FRAME, **build()}))


@pytest.fixture(params=pages.PAGES)
def page(request):
    return _rendered(request.param)


def test_tags_are_balanced(page):
    assert (page.faults, page.open) == ([], [])


def test_nothing_is_inline(page):
    forbidden = [
        (tag, name)
        for tag, attributes in page.tags
        for name in attributes
        if name == "style" or name.startswith(("on", "hx-on", "data-hx-on"))
    ]

    assert (forbidden, page.inline) == ([], "")


def test_ids_are_unique_and_references_lead_somewhere(page):
    counted = collections.Counter(attributes["id"] for _, attributes in page.tags if attributes.get("id"))
    wanted = {
        reference
        for _, attributes in page.tags
        for name in ("aria-labelledby", "aria-describedby", "for", "popovertarget", "data-opens")
        for reference in (attributes.get(name) or "").split()
    }

    assert {name: count for name, count in counted.items() if count > 1} == {}
    assert set() == wanted - set(counted)


def test_every_symbol_exists(page):
    symbols = {attributes["id"] for tag, attributes in page.tags if tag == "symbol"}
    used = {attributes["href"].removeprefix("#") for tag, attributes in page.tags if tag == "use"}

    assert set() == used - symbols


def test_there_is_one_main_and_one_first_heading(page):
    tags = [tag for tag, _ in page.tags]

    assert (tags.count("main"), tags.count("h1")) == (1, 1)


def test_tables_have_captions_and_scopes(page):
    tags = [tag for tag, _ in page.tags]

    assert tags.count("table") == tags.count("caption")
    assert [attributes for tag, attributes in page.tags if tag == "th" and "scope" not in attributes] == []


def test_every_post_form_carries_its_token(page):
    posts = sum(tag == "form" and attributes.get("method") == "post" for tag, attributes in page.tags)
    tokens = sum(attributes.get("name") == "csrfmiddlewaretoken" for _, attributes in page.tags)

    assert posts == tokens


def test_every_page_template_has_a_sample():
    found = {
        str(path.relative_to(TEMPLATES))
        for family in FAMILIES
        for path in (TEMPLATES / family).glob("*.html")
        if not path.name.startswith("_")
    }

    assert set() == found - {template for template, _ in pages.PAGES.values()}


@pytest.mark.parametrize("name", pages.PAGES)
def test_no_page_asks_for_what_its_context_lacks(name):
    template, build = pages.PAGES[name]
    markup = STRICT.get_template(template).render({**FRAME, **build()})

    assert set(re.findall(r"\(missing: ([^)]*)\)", markup)) - WITH_DEFAULTS == set()


def test_no_page_speaks_of_jobs_or_tasks():
    words = re.compile(r"\b(jobs?|tasks?)\b(?!_)", re.IGNORECASE)
    named = [path.name for path in TEMPLATES.rglob("*.html") if words.search(path.read_text())]

    assert named == []


def test_the_theme_is_in_the_first_tag():
    markup = loader.render_to_string("404.html", {"theme": "dark"})

    assert '<html lang="en" data-theme="dark">' in markup


def test_a_stranger_gets_no_navigation_and_no_socket():
    markup = loader.render_to_string("404.html", {"theme": "auto"})

    assert "data-live=" not in markup
    assert "nav-groups" not in markup
