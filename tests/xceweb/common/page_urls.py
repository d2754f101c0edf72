"""Addresses for the sample pages: every name that a template links to, and one page per sample."""

from __future__ import annotations

from django import http, shortcuts, urls

from tests.xceweb.common.samples import pages
from xceweb.common import theme


def sample(request: http.HttpRequest, name: str) -> http.HttpResponse:
    """Show one sample page."""
    template, build = pages.PAGES[name]
    return shortcuts.render(request, template, build())


def nothing(request: http.HttpRequest, **_: str) -> http.HttpResponse:
    """Answer what sample pages link to, but do not show."""
    return http.HttpResponse(status=204)


def _family(name: str, routes: dict[str, str]) -> urls.URLResolver:
    patterns = [urls.path(route, nothing, name=key) for key, route in routes.items()]
    return urls.path("", urls.include((patterns, name)))


COMMON = [
    urls.path("theme/", theme.set_theme, name="theme"),
    urls.path("navigation/", nothing, name="navigation"),
]
urlpatterns = [
    urls.path("pages/<str:name>/", sample, name="sample"),
    urls.path("", urls.include((COMMON, "common"))),
    _family(
        "accounts",
        {"login": "accounts/login/", "logout": "accounts/logout/", "keypair-list": "accounts/keypairs/"},
    ),
    _family("admin", {"index": "admin/"}),
    _family("schema", {"docs": "api/docs"}),
    _family("help", {"reasons": "help/reasons/", "reason": "help/reasons/<slug:code>/"}),
    _family(
        "console",
        {
            "group-policy": "groups/<slug:slug>/policy/",
            "group-roles": "groups/<slug:slug>/roles/",
            "announcement-list": "announcements/",
            "node-keys": "nodes/<slug:name>/keys/",
            "group-policy-preview": "groups/<slug:slug>/preview/",
        },
    ),
    _family(
        "dashboard",
        {
            "overview": "",
            "session-list": "sessions/",
            "view-keep": "sessions/views/",
            "session-bulk": "sessions/act/<slug:action>/",
            "session-query-help": "sessions/query-help/",
            "session-export": "sessions/export/<slug:kind>/",
            "session-submit": "sessions/new/",
            "session-dry-run": "sessions/dry-run/",
            "session-detail": "sessions/<str:session_id>/",
            "queue-list": "queues/",
            "queue-detail": "queues/<slug:slug>/",
            "queue-remove": "queues/<slug:slug>/remove/",
            "node-list": "nodes/",
            "node-detail": "nodes/<str:name>/",
            "group-detail": "groups/<slug:slug>/",
            "decision-list": "decisions/",
        },
    ),
]
