"""
The template library ``xce``: icons, chips, times, amounts, bars.

Tags only turn values into markup; they ask no database and decide nothing about the domain.
"""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

from django import template
from django.utils import html, safestring, timezone

from scheduler.core import units
from xceweb.common import geometry, marks, wording

register = template.Library()

NOTHING = "\u2013"
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_ICON = '<svg class="icon{}" aria-hidden="true"><use href="#i-{}"/></svg>'
_TIME = '<time datetime="{}" data-show="{}" title="{}">{}</time>'
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@register.simple_tag
def icon(name: str, css: str = "") -> safestring.SafeString:
    """Draw a symbol of the sprite, 16 px, hidden from screen readers: the word stands beside it."""
    return html.format_html(_ICON, f" {css}" if css else "", name)


@register.inclusion_tag("common/_state_chip.html")
def state_chip(state: str, result: str | None = "", label: str = "") -> dict[str, Any]:
    """Draw a session's state: tinted while it lives, outlined when over; ``label`` replaces the word."""
    mark = marks.session(state, result)
    return {"mark": mark, "label": label or mark.word}


@register.inclusion_tag("common/_state_chip.html")
def chip(what: str, value: str, label: str = "") -> dict[str, Any]:
    """Draw the state of a ``node`` or ``queue``, or the ``outcome`` of a decision."""
    mark = marks.of(what, value)
    return {"mark": mark, "label": label or mark.word}


@register.inclusion_tag("common/_lamp.html")
def lamp(state: str) -> dict[str, Any]:
    """Draw the lamp of a preemption switch: hollow, half, full."""
    return {"mark": marks.of("lamp", state)}


@register.simple_tag
def event_icon(kind: str) -> safestring.SafeString:
    """Draw the symbol of an event type."""
    name, css = marks.event(kind)
    return icon(name, css)


@register.simple_tag
def event_icons_json() -> str:
    """Return the table of event symbols for the script that adds rows to a feed."""
    return json.dumps(marks.EVENT_ICONS, separators=(",", ":"))


@register.simple_tag
def when(value: datetime.datetime | int | None, show: str = "moment") -> str:
    """
    Write a time as ``<time>``; the browser turns it into the reader's zone.

    Args:
        value: an aware time, microseconds since the epoch, or None (a dash).
        show: ``moment`` (time today, else date and time), ``clock`` 14:02, ``time`` 14:02:07, ``precise``
            14:02:07.118, ``date`` 23 Nov 09:12, ``day`` 12 Nov, or the distance from now, which the browser
            keeps current: ``ago``.
    """
    if value is None:
        return NOTHING
    at = timezone.localtime(_as_time(value))
    return html.format_html(_TIME, at.isoformat(), show, f"{at:%a %d %b %Y %H:%M:%S %Z}", _shown(at, show))


def _as_time(value: datetime.datetime | int) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(microseconds=value) if isinstance(value, int) else value


def _shown(at: datetime.datetime, show: str) -> str:
    if show == "ago":
        return wording.distance(at, timezone.now())
    if show == "moment":
        show = "time" if at.date() == timezone.localdate() else "date"
    if show == "precise":
        return f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
    pattern = {"clock": "%H:%M", "time": "%H:%M:%S", "day": "%-d %b", "date": "%-d %b %H:%M"}[show]
    return at.strftime(pattern)


@register.filter
def ago(value: datetime.datetime | int) -> str:
    """Write how far a time is from now, without markup."""
    return wording.distance(_as_time(value), timezone.now())


@register.filter
def duration(value: int | float | datetime.timedelta | None) -> str:
    """Write a span given in **seconds** (or as a timedelta)."""
    return NOTHING if value is None else wording.duration(wording.as_microseconds(value))


@register.filter
def duration_us(value: int | None) -> str:
    """Write a span given in **microseconds**."""
    return NOTHING if value is None else wording.duration(value)


@register.filter
def amount(value: int | None, kind: str | units.SlotKind) -> str:
    """Write an amount given in the kind's smallest unit, without the word for what is counted."""
    return NOTHING if value is None else wording.amount(value, kind)


@register.filter
def quantity(value: int | None, kind: str | units.SlotKind) -> str:
    """Write an amount with what is counted: ``4 GPUs``."""
    return NOTHING if value is None else wording.quantity(value, kind)


@register.filter
def slots(value: wording.Slots | None) -> str:
    """Write amounts by kind in one line: ``4 GPUs, 32 cores, 256 GiB``."""
    return wording.slots(value)


@register.filter
def unit(kind: str | units.SlotKind) -> str:
    """Return what one of a kind is called (``cores``, ``GPUs``), empty where the number carries its unit."""
    known = wording.kind_of(kind)
    return "" if known.is_bytes else known.unit


@register.filter
def thousands(value: int | None) -> str:
    """Write a count with separators: ``48,211``."""
    return NOTHING if value is None else f"{value:,}"


@register.filter(needs_autoescape=True)
def emphasis(text: str | None, autoescape: bool = True) -> safestring.SafeString:
    """Write a sentence whose ``**numbers**`` are bold; it is escaped first, so names in it stay harmless."""
    safe = html.conditional_escape(text or "") if autoescape else text or ""
    return safestring.mark_safe(_BOLD.sub(r"<b>\1</b>", safe))  # noqa: S308 - escaped in the line above


@register.inclusion_tag("common/_capacity_strip.html")
def capacity_strip(nodes: list[dict[str, Any]], label: str, lone: bool = False) -> dict[str, Any]:
    """Draw devices as cells grouped by node (``nodes``: name and cells); ``lone`` leaves the names out."""
    return {"rows": geometry.strip_rows(nodes), "label": label, "lone": lone}


@register.inclusion_tag("common/_capacity_strip.html")
def node_strip(cells: list[str], label: str) -> dict[str, Any]:
    """Draw the devices of one node as cells, without its name."""
    rows = geometry.strip_rows([{"name": "", "cells": cells}]) if cells else []
    return {"rows": rows, "label": label, "lone": True}


@register.inclusion_tag("common/_capacity_bar.html")
def capacity_bar(parts: dict[str, int], label: str) -> dict[str, Any]:
    """Draw one bar of amounts by kind (allocated, releasing, reserved, free, drained)."""
    return {"pieces": geometry.bar(parts), "label": label}


@register.inclusion_tag("common/_meter.html")
def meter(value: int, maximum: int, css: str = "fill") -> dict[str, Any]:
    """Draw a share as a bar whose number stands beside it."""
    return {"width": geometry.percent(min(100.0, 100 * value / maximum) if maximum else 0), "css": css}


@register.inclusion_tag("common/_dots.html")
def dots(stop: int, could: int, safe: int) -> dict[str, Any]:
    """Draw sessions at risk as countable squares, at most 40, and write the numbers for screen readers."""
    kinds = ["stop"] * stop + ["could"] * could + ["safe"] * safe
    return {"kinds": kinds[:40], "more": max(0, len(kinds) - 40), "stop": stop, "could": could, "safe": safe}


@register.inclusion_tag("common/_usage_chart.html")
def usage_chart(usage: dict[str, Any]) -> dict[str, Any]:
    """
    Draw use over time as a line with preemption marks.

    Args:
        usage: ``values`` (shares 0..1, at least two), ``start``, ``end`` (times), ``marks`` (list of ``at``
            and ``would``: true for shadow), ``label`` (the chart in words).
    """
    axis = geometry.Axis(usage["start"], usage["end"])
    found = [{"x": axis.at(mark["at"]), "would": mark.get("would", False)} for mark in usage.get("marks", ())]
    return {**usage, "path": geometry.line(usage["values"]), "marks": found}


@register.inclusion_tag("common/_sparkline.html")
def sparkline(values: list[int], label: str) -> dict[str, Any]:
    """Draw a small line of at least two values, scaled to the largest."""
    top = max(values, default=0) or 1
    return {"path": geometry.line([value / top for value in values], 16), "label": label}


@register.inclusion_tag("common/_estimate_chart.html")
def estimate_chart(estimate: dict[str, Any]) -> dict[str, Any]:
    """Draw an estimated start (``best_at``) with its range (``from_at`` to ``to_at``), seen from ``now``."""
    room = (estimate["to_at"] - estimate["now"]) * 0.2
    axis = geometry.Axis(estimate["now"] - room * 0.3, estimate["to_at"] + room)
    return {
        **estimate,
        "range": geometry.span("range", (estimate["from_at"], estimate["to_at"]), axis),
        **{f"{name}_x": axis.at(estimate[key]) for name, key in _ESTIMATE_PLACES.items()},
    }


_ESTIMATE_PLACES = {"now": "now", "best": "best_at", "from": "from_at", "to": "to_at"}


@register.inclusion_tag("common/_attempts_chart.html")
def attempts_chart(history: dict[str, Any]) -> dict[str, Any]:
    """
    Draw the attempts of a session over time.

    Args:
        history: ``start``, ``end``, ``now``, ``label``, ``attempts``: list of ``number`` and ``spans``
            (each ``kind`` pending, running, preempted, suspended, expected; ``start``, ``end``).
    """
    axis = geometry.Axis(history["start"], history["end"])
    rows = [_attempt(index, attempt, axis) for index, attempt in enumerate(history["attempts"])]
    base = 20 + 30 * len(rows)
    return {
        "rows": rows,
        "base": base,
        "height": base + 22,
        "tick_end": base + 4,
        "tick_text": base + 18,
        "ticks": axis.ticks(),
        "now_x": axis.at(history["now"]),
        "label": history["label"],
    }


def _attempt(index: int, attempt: dict[str, Any], axis: geometry.Axis) -> dict[str, Any]:
    pieces = [geometry.span(part["kind"], (part["start"], part["end"]), axis) for part in attempt["spans"]]
    top = 20 + 30 * index
    return {"number": attempt["number"], "y": top, "text_y": top + 12, "pieces": pieces}


@register.inclusion_tag("common/_handover.html")
def handover(spans: list[dict[str, Any]], label: str) -> dict[str, Any]:
    """Draw consecutive spans (``kind``, ``us`` microseconds, ``text``) of one hand-over in proportion."""
    widths = [max(2.5, 100 * part["us"] / (sum(p["us"] for p in spans) or 1)) for part in spans]
    scale, left, pieces = 100 / (sum(widths) or 1), 0.0, []
    for part, width in zip(spans, widths, strict=True):
        pieces.append(_handover_piece(part, left, width * scale))
        left += width * scale
    return {"pieces": pieces, "label": label}


def _handover_piece(part: dict[str, Any], left: float, width: float) -> dict[str, Any]:
    rect = geometry.Rect(part["kind"], geometry.percent(left), geometry.percent(max(0.5, width - 0.4)))
    return {
        "rect": rect,
        "text": part["text"],
        "middle": geometry.percent(left + width / 2),
        "is_wide": width > 40,
    }
