"""What the frame of every page gets, and the moments that the samples hang on."""

from __future__ import annotations

import datetime
from typing import Any

from django.utils import timezone

GIB = 1 << 30
NOW = timezone.now().replace(microsecond=880_000)
ID = "0193a1c4-7b1e-7d3c-9a55-4f1f0a2b3c4d"
OTHER_ID = "0193a1c4-7b1e-7d3c-9a55-4f1f0a2b3c4e"


def ago(**span: float) -> datetime.datetime:
    """Return a time before the samples' now."""
    return NOW - datetime.timedelta(**span)


def later(**span: float) -> datetime.datetime:
    """Return a time after the samples' now."""
    return NOW + datetime.timedelta(**span)


def slots(gpus: int, cores: int = 0, gib: int = 0) -> dict[str, int]:
    """Return amounts by kind in their smallest units."""
    return {"cuda.device": gpus, "cpu": 1000 * cores, "mem": gib * GIB}


class Person:
    """The reader of a sample page."""

    is_authenticated = True

    def __init__(self, name: str) -> None:
        self.name = name

    def get_username(self) -> str:
        """Return the log-in name."""
        return self.name


def frame(section: str, *crumbs: tuple[str, str], reader: str = "alice") -> dict[str, Any]:
    """Return what base.html needs."""
    groups = [
        {"slug": "a100", "name": "a100", "state": "on"},
        {"slug": "l4", "name": "l4", "state": "shadow"},
    ]
    return {
        "user": Person(reader),
        "section": section,
        "nav": {"groups": groups, "alive": 50, "mine": 5},
        "live_number": 48_211,
        "crumbs": [{"label": label, "url": url} for label, url in crumbs],
    }


def event(number: int, ago_s: int, kind: str, text: str) -> dict[str, Any]:
    """Return one event as a feed shows it."""
    return {
        "number": number,
        "at": ago(seconds=ago_s),
        "type": kind,
        "text": text,
        "link": f"/sessions/{ID}/",
    }


def strip(name: str, pattern: str) -> dict[str, Any]:
    """Return a node's cells from letters: allocated, reserved, s = releasing, free, drained, you."""
    kinds = {"a": "allocated", "r": "reserved", "s": "releasing", "f": "free", "d": "drained", "y": "you"}
    return {"name": name, "cells": [kinds[letter] for letter in pattern]}


def step(
    ago_s: float, icon: str, css: str, what: str, sub: str = "", delay_us: int | None = None
) -> dict[str, Any]:
    """Return one line of a time line."""
    return {
        "at": ago(seconds=ago_s),
        "delay_us": delay_us,
        "icon": icon,
        "css": css,
        "what": what,
        "sub": sub,
    }


def fact(term: str, text: str, quote: str = "") -> dict[str, str]:
    """Return one line of a list of facts."""
    return {"term": term, "text": text, "quote": quote}
