"""How the console looks: the product's mark and colours, and its side bar. Plain data for Django's settings."""

from __future__ import annotations

from typing import Any

from django import http, urls
from django.templatetags.static import static

from xceweb.common import theme

#: Each value is one of ``static/css/tokens.css``.
_BASE = {
    "50": "#f8f8f7",
    "100": "#f1f2f3",
    "200": "#e5e6e9",
    "300": "#b3bac5",
    "400": "#8f97a5",
    "500": "#646b78",
    "600": "#4a515d",
    "700": "#373d47",
    "800": "#252a31",
    "900": "#14171b",
    "950": "#0d0f12",
}
_PRIMARY = {
    "50": "#eef2fd",
    "100": "#e9effd",
    "200": "#e9effd",
    "300": "#93adff",
    "400": "#93adff",
    "500": "#93adff",
    "600": "#2a55c9",
    "700": "#2a55c9",
    "800": "#1a2440",
    "900": "#1a2440",
    "950": "#1a2238",
}
#: heading -> (name of the listing in ``admin:scheduler_<name>_changelist``, label, icon)
_PLACES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Work": (
        ("session", "Sessions", "terminal"),
        ("run", "Runs", "replay"),
        ("pendreason", "Reasons of waits", "hourglass_empty"),
        ("allocation", "What is held", "memory"),
    ),
    "Decisions": (
        ("round", "Rounds", "sync"),
        ("decision", "Decisions", "gavel"),
        ("victim", "Victims", "pause_circle"),
        ("outcome", "Outcomes", "task_alt"),
        ("reservation", "Reservations", "bookmark"),
    ),
    "Cluster": (
        ("node", "Nodes", "dns"),
        ("agentstatus", "Agents", "sensors"),
        ("agentcommand", "Commands to agents", "outbox"),
        ("nodedevice", "Devices", "developer_board"),
    ),
    "Rules": (
        ("resourcegroup", "Resource groups", "hub"),
        ("policyversion", "Versions of rules", "history"),
        ("plannedchange", "Planned changes", "schedule"),
        ("queue", "Queues", "low_priority"),
        ("keypairresourcepolicy", "Resource policies", "speed"),
    ),
    "People": (
        ("user", "People", "person"),
        ("grouprole", "Roles", "badge"),
        ("keypair", "Keypairs", "key"),
    ),
    "Record": (
        ("event", "Events", "list_alt"),
        ("configchange", "Audit", "fact_check"),
    ),
}


def chosen_theme(request: http.HttpRequest) -> str | None:
    """Return the reader's theme, None to go by the system's."""
    name = theme.chosen(request)
    return None if name == "auto" else name


def side_bar(request: http.HttpRequest) -> list[dict[str, Any]]:
    """Return the entries of the side bar: the most looked at listings by what they are about, then all."""
    start = [
        _entry("Dashboard", urls.reverse("admin:index"), "dashboard"),
        {
            **_entry("All tables", urls.reverse("admin:app_list", args=["scheduler"]), "apps"),
            "active": request.path == urls.reverse("admin:app_list", args=["scheduler"]),
        },
        {**_entry("Announce", urls.reverse("console:announcement-list"), "campaign"), "active": False},
        {**_entry("Back to XCE Web", urls.reverse("dashboard:overview"), "arrow_back"), "active": False},
    ]
    places = [
        {
            "title": title,
            "separator": True,
            "items": [
                _entry(label, urls.reverse(f"admin:scheduler_{name}_changelist"), icon)
                for name, label, icon in rows
            ],
        }
        for title, rows in _PLACES.items()
    ]
    return [{"title": "", "items": start}, *places]


def _entry(title: str, link: str, icon: str) -> dict[str, Any]:
    return {"title": title, "link": link, "icon": icon}


def mark(request: http.HttpRequest) -> str:
    """Return the address of the product's mark."""
    return static("img/icon.svg")


def style_sheet(request: http.HttpRequest) -> str:
    """Return the address of what the console adds to the theme."""
    return static("css/admin.css")


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "XCE Web administration",
    "SITE_HEADER": "XCE Web",
    "SITE_SUBHEADER": "Administration",
    "SITE_URL": "/",
    "SITE_ICON": mark,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": mark}],
    "THEME": chosen_theme,
    "BORDER_RADIUS": "6px",
    "COLORS": {"base": _BASE, "primary": _PRIMARY},
    "STYLES": [style_sheet],
    "SHOW_HISTORY": True,
    "SIDEBAR": {"show_search": True, "navigation": side_bar},
    "DASHBOARD_CALLBACK": "xceweb.admin.dashboard.context",
}
