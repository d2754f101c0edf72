"""The list of sessions with its filters, facets and pages."""

from __future__ import annotations

import dataclasses
import functools
import urllib.parse
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import urls

from scheduler import errors, models
from scheduler.selectors import saved_views, sessions, slot_kinds
from xceweb.dashboard import session_files
from xceweb.dashboard.contexts import session_facets, session_looks, words

Address = Callable[..., str]


def load(
    viewer: models.User, filters: sessions.Filters, look: session_looks.Look, *, number: int
) -> dict[str, Any]:
    """Return the context of ``dashboard/session_list.html``."""
    fault = ""
    try:
        page = sessions.page(viewer, filters, number=number)
    except errors.Refusal as refusal:
        fault = refusal.fields["q"]
        page = sessions.page(viewer, dataclasses.replace(filters, q=""), number=number)
    known, address = slot_kinds.load(), functools.partial(url, **look.query())
    return {
        "filters": {**dataclasses.asdict(filters), "is_filtered": filters.is_filtered, "fault": fault},
        "facets": session_facets.load(filters, page.counts, address),
        "views": _views(viewer, filters if not fault else sessions.Filters(), address),
        "sessions": [{**row(item, known), "is_gone": False} for item in page.rows],
        "pager": _pager(page, (filters, number), address),
        "facets_url": address(filters, part="session_facets"),
        "clear_url": address(sessions.Filters()),
        "files": _files(filters),
        "back": address(filters, page=number).partition("?")[2],
        **_live(filters, look, number=number, ids=[item.id for item in page.rows]),
    }


def again(
    viewer: models.User,
    filters: sessions.Filters,
    look: session_looks.Look,
    *,
    number: int,
    ids: Sequence[uuid.UUID],
) -> dict[str, Any]:
    """Return the context of ``dashboard/_session_again.html``: the rows of a page in their places."""
    try:
        found = sessions.again(viewer, filters, ids)
    except errors.Refusal:
        found = sessions.again(viewer, dataclasses.replace(filters, q=""), ids)
    known = slot_kinds.load()
    return {
        "sessions": [{**row(item, known), "is_gone": item.id not in found.passing} for item in found.rows],
        "newer": found.newer if number == 1 else 0,
        "fresh_url": url(filters, **look.query()),
        **_live(filters, look, number=number, ids=ids),
    }


def _live(
    filters: sessions.Filters, look: session_looks.Look, *, number: int, ids: Sequence[uuid.UUID]
) -> dict[str, Any]:
    """Return what the rows listen to, and where they come from when they look again."""
    shown = " ".join(one.hex for one in ids)
    topic = f"group:{filters.group}" if filters.group else "cluster"
    return {
        "look": session_looks.load(look),
        "topic": topic,
        "bell": topic.replace(":", "-"),
        "rows_url": url(filters, page=number, part="session_again", shown=shown, **look.query()),
    }


def _views(viewer: models.User, filters: sessions.Filters, address: Address) -> dict[str, Any]:
    kept = [
        {
            "name": view.name,
            "url": address(sessions.Filters(q=view.query)),
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


def _pager(page: sessions.Page, place: tuple[sessions.Filters, int], address: Address) -> dict[str, Any]:
    """Return the pager: bounds, total, and the addresses before and after."""
    filters, number = place
    last = page.first + len(page.rows) - 1
    return {
        "first": page.first if page.rows else 0,
        "last": max(0, last) if page.rows else 0,
        "total": page.total,
        "previous_url": address(filters, page=number - 1) if number > 1 else "",
        "next_url": address(filters, page=number + 1) if last < page.total and page.rows else "",
    }


def url(filters: sessions.Filters, **more: object) -> str:
    """Return the address of a list with these filters."""
    return _with_query(urls.reverse("dashboard:session-list"), filters, more)


def _with_query(address: str, filters: sessions.Filters, more: Mapping[str, object]) -> str:
    values = {**dataclasses.asdict(filters), **more}
    kept = {name: text for name, text in values.items() if text not in ("", 1, [])}
    encoded = urllib.parse.urlencode(kept, doseq=True)
    return f"{address}?{encoded}" if encoded else address


def _files(filters: sessions.Filters) -> list[dict[str, str]]:
    return [
        {
            "label": kind.upper(),
            "url": _with_query(urls.reverse("dashboard:session-export", args=[kind]), filters, {}),
        }
        for kind in session_files.KINDS
    ]
