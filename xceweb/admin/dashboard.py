"""The first page of the console: is the machine at work, and how much of everything there is."""

from __future__ import annotations

from typing import Any

from django import http

from scheduler.selectors import machine_room
from xceweb.common import health


def context(request: http.HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the page's context: that of every page, and the figures."""
    return {**context, **figures()}


def figures() -> dict[str, Any]:
    """Return the figures, and each check with what is wrong."""
    room = machine_room.load()
    checks = [{"name": name, "problem": problem} for name, problem in health.problems().items()]
    return {
        "room": room,
        "checks": checks,
        "failed": sum(1 for check in checks if check["problem"]),
        "rounds": _bars(room),
    }


def _bars(room: machine_room.MachineRoom) -> list[dict[str, Any]]:
    """Return the rounds oldest first, each with its share of the longest, in percent."""
    longest = max((row.duration_ms for row in room.rounds), default=0) or 1
    return [
        {"row": row, "share": max(4, round(100 * row.duration_ms / longest))} for row in reversed(room.rounds)
    ]
