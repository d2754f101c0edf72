"""The first sentence of the overview: what blocks the cluster now, or what it does while nothing waits."""

from __future__ import annotations

import urllib.parse
from typing import Any

from django import urls

from scheduler import models
from scheduler.core import explain
from scheduler.selectors import overview, slot_kinds
from xceweb.common import wording
from xceweb.dashboard.contexts import words

_MOST_GROUPS = 3


def load(viewer: models.User) -> dict[str, Any]:
    """Return sentence, note and link of ``dashboard/_headline.html``, as far as the viewer may see the cluster."""
    blocked = overview.blockage(viewer)
    if blocked is None:
        return {"sentence": _at_rest(overview.rest(viewer)), "note": "", "link": None}
    sessions_wait = "session waits" if blocked.waiting == 1 else "sessions wait"
    title = explain.pend_title(blocked.reason).lower()
    some = f", **{blocked.count}** of them" if blocked.count < blocked.waiting else ""
    query = urllib.parse.urlencode({"state": "pending", "group": blocked.group})
    url = f"{urls.reverse('dashboard:session-list')}?{query}"
    return {
        "sentence": f"**{blocked.waiting}** {sessions_wait}{some} in **{blocked.group}**: **{title}**.",
        "note": explain.pend_help(blocked.reason),
        "link": {"url": url, "label": "See who waits"},
    }


def _at_rest(found: overview.Rest) -> str:
    parts = [_running(found)]
    if found.suspended:
        parts.append(f"{found.suspended} {'is' if found.suspended == 1 else 'are'} suspended")
    if found.free:
        parts.append(_free(found.free))
    return f"**Nothing waits.** {'; '.join(parts)}."


def _running(found: overview.Rest) -> str:
    if not found.running:
        return "No session runs"
    verb = "runs" if found.running == 1 else "run"
    return f"{words.count(found.running, 'session')} {verb} on {words.count(found.nodes, 'node')}"


def _free(free: tuple[overview.FreeSlots, ...]) -> str:
    kinds = slot_kinds.load()
    shown = [_of_group(one, kinds, is_first=not i) for i, one in enumerate(free[:_MOST_GROUPS])]
    rest = len(free) - len(shown)
    return ", ".join(shown) + (f" (and {words.count(rest, 'more group')})" if rest else "")


def _of_group(one: overview.FreeSlots, kinds: dict[str, slot_kinds.Kind], *, is_first: bool) -> str:
    """Write ``12 of 16 cores are free in batch``; the verb stands once."""
    kind = slot_kinds.of(one.kind, kinds)
    total = wording.quantity(one.total, kind)
    are_free = (" is free" if one.total == kind.scale else " are free") if is_first else ""
    return f"{wording.amount(one.free, kind)} of {total}{are_free} in {one.group}"
