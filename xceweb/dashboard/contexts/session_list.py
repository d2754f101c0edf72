"""The list of sessions with its filters, facets and pages."""

from __future__ import annotations

import dataclasses
import urllib.parse
from typing import Any

from django import urls

from scheduler import errors, models
from scheduler.core import decisions, explain, states
from scheduler.selectors import permissions, saved_views, sessions, slot_kinds
from xceweb.common import marks
from xceweb.dashboard.contexts import words


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
        "filters": {**_filters(viewer, filters, page), "fault": fault},
        "views": _views(viewer, filters if not fault else sessions.Filters()),
        "sessions": [row(item, known) for item in page.rows],
        "pager": pager(page, filters, number),
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


def _filters(viewer: models.User, filters: sessions.Filters, page: sessions.Page) -> dict[str, Any]:
    return {
        **dataclasses.asdict(filters),
        "is_filtered": filters.is_filtered,
        "facets": _facets(filters, page),
        "groups": list(permissions.visible_groups(viewer).values_list("slug", flat=True)),
        "reasons": [
            {"code": one.value, "label": explain.pend_title(one.value)} for one in decisions.PendReason
        ],
        "queues": list(permissions.visible_queues(viewer).values_list("slug", flat=True)),
    }


def _facets(filters: sessions.Filters, page: sessions.Page) -> list[dict[str, Any]]:
    over = states.SessionState.TERMINATED.value
    total = sum(page.by_state.values())
    first = [
        _facet(filters, "", ("All", "", total)),
        _facet(filters, sessions.ALIVE, ("Alive", "", total - page.by_state.get(over, 0))),
    ]
    named = [
        (state.value, marks.session(state.value)) for state in states.SessionState if state.value != over
    ]
    alive = [
        _facet(filters, name, (mark.word, mark.icon, page.by_state.get(name, 0))) for name, mark in named
    ]
    return [*first, *alive, _facet(filters, over, ("Ended", "s-success", page.by_state.get(over, 0)))]


def _facet(filters: sessions.Filters, state: str, shown: tuple[str, str, int]) -> dict[str, Any]:
    label, icon, count = shown
    address = url(dataclasses.replace(filters, state=state))
    return {
        "label": label,
        "icon": icon,
        "count": count,
        "url": address,
        "is_current": filters.state == state,
    }


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
    query = {
        name: text for name, text in {**dataclasses.asdict(filters), **more}.items() if text not in ("", 1)
    }
    encoded = urllib.parse.urlencode(query)
    return (
        f"{urls.reverse('dashboard:session-list')}?{encoded}"
        if encoded
        else urls.reverse("dashboard:session-list")
    )
