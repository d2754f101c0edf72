"""The list of sessions with its filters, facets and pages."""

from __future__ import annotations

import dataclasses
import urllib.parse
from collections.abc import Mapping
from typing import Any

from django import urls

from scheduler import errors, models
from scheduler.selectors import saved_views, sessions, slot_kinds
from xceweb.dashboard import session_files
from xceweb.dashboard.contexts import session_facets, words


def load(viewer: models.User, filters: sessions.Filters, *, number: int) -> dict[str, Any]:
    """Return the context of ``dashboard/session_list.html``."""
    fault = ""
    try:
        page = sessions.page(viewer, filters, number=number)
    except errors.Refusal as refusal:
        fault = refusal.fields["q"]
        page = sessions.page(viewer, dataclasses.replace(filters, q=""), number=number)
    known = slot_kinds.load()
    return {
        "filters": {**dataclasses.asdict(filters), "is_filtered": filters.is_filtered, "fault": fault},
        "facets": session_facets.load(filters, page.counts, url),
        "views": _views(viewer, filters if not fault else sessions.Filters()),
        "sessions": [row(item, known) for item in page.rows],
        "pager": pager(page, filters, number),
        "facets_url": url(filters, part="session_facets"),
        "files": _files(filters),
        "back": url(filters, page=number).partition("?")[2],
        "topic": f"group:{filters.group}" if filters.group else "cluster",
        "rows_url": url(filters, page=number, part="session_rows"),
    }


def _views(viewer: models.User, filters: sessions.Filters) -> dict[str, Any]:
    kept = [
        {
            "name": view.name,
            "url": url(sessions.Filters(q=view.query)),
            "remove_url": urls.reverse("dashboard:view-remove", args=[view.public_id]),
            "is_current": filters.query() == view.query,
        }
        for view in saved_views.of(viewer)
    ]
    return {"kept": kept, "query": filters.query()}


def row(item: sessions.Row, known: dict[str, slot_kinds.Kind]) -> dict[str, Any]:
    """Return one row of the table."""
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    address = urls.reverse("dashboard:session-detail", args=[item.id])
    shown = {"url": address if item.name else "", "slots": slot_kinds.amounts(item.slots, known)}
    priority = words.NOTHING if item.priority is None else item.priority
    return {**values, **shown, "priority": priority}


def pager(page: sessions.Page, filters: sessions.Filters, number: int) -> dict[str, Any]:
    """Return the pager: bounds, total, and the addresses before and after."""
    last = page.first + len(page.rows) - 1
    return {
        "first": page.first if page.rows else 0,
        "last": max(0, last) if page.rows else 0,
        "total": page.total,
        "previous_url": url(filters, page=number - 1) if number > 1 else "",
        "next_url": url(filters, page=number + 1) if last < page.total and page.rows else "",
    }


def url(filters: sessions.Filters, **more: object) -> str:
    """Return the address of a list with these filters."""
    return _with_query(urls.reverse("dashboard:session-list"), filters, more)


def _with_query(address: str, filters: sessions.Filters, more: Mapping[str, object]) -> str:
    values = {**dataclasses.asdict(filters), **more}
    encoded = urllib.parse.urlencode({name: text for name, text in values.items() if text not in ("", 1)})
    return f"{address}?{encoded}" if encoded else address


def _files(filters: sessions.Filters) -> list[dict[str, str]]:
    return [
        {
            "label": kind.upper(),
            "url": _with_query(urls.reverse("dashboard:session-export", args=[kind]), filters, {}),
        }
        for kind in session_files.KINDS
    ]
