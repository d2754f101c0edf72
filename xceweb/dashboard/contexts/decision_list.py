"""The history of preemptions, as rows; also used by the pages of groups."""

from __future__ import annotations

import dataclasses
import urllib.parse
from collections.abc import Iterable
from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import decisions, explanations, permissions
from xceweb.dashboard.contexts import words


def load(viewer: models.User, filters: decisions.Filters, *, number: int) -> dict[str, Any]:
    """Return the context of ``dashboard/decision_list.html``."""
    page = decisions.page(viewer, filters, number=number)
    groups = list(permissions.visible_groups(viewer).values_list("slug", flat=True))
    shown = {**dataclasses.asdict(filters), "is_filtered": filters.is_filtered}
    return {
        "summary": _summary(viewer),
        "filters": {**shown, "groups": groups, "outcomes": list(decisions.OUTCOMES)},
        "decisions": rows(viewer, page.rows),
        "pager": _pager(page, filters, number),
    }


def rows(viewer: models.User, found: Iterable[models.Decision]) -> list[dict[str, Any]]:
    """Return decisions as rows of ``_decision_rows.html``. Two queries."""
    found = list(found)
    ids = {row.session_id for row in found} | {v.session_id for row in found for v in row.victims.all()}
    others = explanations.others(viewer, ids)
    return [_row(row, others) for row in found]


def _row(row: models.Decision, others: dict[int, explanations.Other]) -> dict[str, Any]:
    stopped = list(row.victims.all()) or row.record["victims"]
    return {
        "number": row.pk,
        "url": urls.reverse("dashboard:decision-detail", args=[row.public_id]),
        "at": row.at,
        "group": row.group.slug,
        "axis": row.axis,
        "is_shadow": row.kind == models.Decision.Kind.SHADOW,
        "preemptor": {**words.shown(others.get(row.session_id)), "value": row.preemptor_value},
        "victims": [_victim(one, others) for one in stopped],
        "node": row.node.name,
        "outcome": decisions.outcome_of(row),
        "latency_us": decisions.latency_us(row),
        "lost": "",
    }


def _victim(one: Any, others: dict[int, explanations.Other]) -> dict[str, Any]:
    """Return one victim of a stored row, or of a shadow record, which has no rows."""
    pk, value = (
        (one["session_id"], one["own_value"]) if isinstance(one, dict) else (one.session_id, one.own_value)
    )
    return {**words.shown(others.get(pk)), "value": value}


def _summary(viewer: models.User) -> str:
    closed, used = decisions.last_week(viewer)
    if not closed:
        return ""
    was = "was" if used == 1 else "were"
    return f"**{used}** of **{words.count(closed, 'preemption')}** of the last 7 days {was} used."


def _pager(page: decisions.Page, filters: decisions.Filters, number: int) -> dict[str, Any]:
    last = page.first + len(page.rows) - 1
    return {
        "first": page.first if page.rows else 0,
        "last": last if page.rows else 0,
        "total": page.total,
        "previous_url": _url(filters, number - 1) if number > 1 else "",
        "next_url": _url(filters, number + 1) if last < page.total and page.rows else "",
    }


def _url(filters: decisions.Filters, number: int) -> str:
    query = {name: text for name, text in dataclasses.asdict(filters).items() if text}
    return f"{urls.reverse('dashboard:decision-list')}?{urllib.parse.urlencode({**query, 'page': number})}"
