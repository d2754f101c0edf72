"""The overview: what blocks, capacity, states, own sessions, the feed."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable
from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import event_log, overview, sessions, slot_kinds
from xceweb.dashboard.contexts import capacity, headline, switch_news
from xceweb.live import frames

Viewer = models.User


def round_(viewer: Viewer) -> dict[str, Any] | None:
    """Return the last round, None before the first."""
    last = overview.last_round(viewer)
    if last is None:
        return None
    return {"number": last.number, "took_us": last.took_us, "at": last.at, "durations_us": last.durations_us}


def capacity_cards(viewer: Viewer) -> list[dict[str, Any]]:
    """Return one card a group."""
    known = slot_kinds.load()
    return [_card(glance, known) for glance in overview.groups(viewer)]


def _card(glance: overview.GroupGlance, known: dict[str, slot_kinds.Kind]) -> dict[str, Any]:
    slug = glance.group.slug
    return {
        "slug": slug,
        "name": slug,
        "summary": capacity.summary(glance.uses),
        "state": glance.state,
        "state_since": glance.state_since,
        "kinds": capacity.kinds(glance.uses, known),
        "usage": None,
        "running": glance.running,
        "waiting": glance.waiting,
        "oldest_wait_s": glance.oldest_wait_s,
        "link": {"url": urls.reverse("dashboard:group-detail", args=[slug]), "label": "Open the group"},
    }


def states(viewer: Viewer) -> dict[str, Any]:
    """Return the counts by state, each with its list."""
    counts = overview.counts(viewer)
    return {
        "alive": [_count("state", state, n, state) for state, n in counts.alive.items()],
        "alive_total": sum(counts.alive.values()),
        "alive_max": max(counts.alive.values()),
        "ended": [_count("result", result, n, f"ended:{result}") for result, n in counts.ended.items()],
        "ended_max": max(counts.ended.values(), default=0),
    }


def _count(name: str, value: str, count: int, state: str) -> dict[str, Any]:
    return {name: value, "count": count, "url": _list_url(state=state)}


def _list_url(**query: str) -> str:
    return f"{urls.reverse('dashboard:session-list')}?{urllib.parse.urlencode(query)}"


def mine(viewer: Viewer) -> list[dict[str, Any]]:
    """Return the viewer's own sessions."""
    known = slot_kinds.load()
    return [_own(row, known) for row in sessions.mine(viewer)]


def _own(row: sessions.Row, known: dict[str, slot_kinds.Kind]) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "state": row.state,
        "result": row.result,
        "verdict": row.verdict,
        "group": row.group,
        "slots": slot_kinds.amounts(row.slots, known),
        "since_s": row.since_s,
        "next": _NEXT.get(row.state, ""),
    }


_NEXT = {
    "pending": "when free",
    "scheduled": "now",
    "preempted": "now",
    "suspended": "when free",
    "stopping": "now",
    "terminating": "now",
}


def events(viewer: Viewer) -> list[dict[str, Any]]:
    """Return the newest events that the viewer may see."""
    return frames.rows(event_log.newest_visible(viewer))


def notices(viewer: Viewer) -> list[dict[str, Any]]:
    """Return what somebody should look at: nodes that are not well, groups that are stopped."""
    return [
        *map(_node_notice, overview.unwell_nodes(viewer)),
        *map(_group_notice, overview.stopped_groups(viewer)),
    ]


def _node_notice(node: models.Node) -> dict[str, Any]:
    url = urls.reverse("dashboard:node-detail", args=[node.name])
    text = node.state_reason or "Nothing new starts there."
    return {"title": f"{node.name} is {node.state}", "text": text, "link": {"url": url, "label": "Open"}}


def _group_notice(group: models.ResourceGroup) -> dict[str, Any]:
    url = urls.reverse("console:group-policy", args=[group.slug])
    reason = group.policy.reason if group.policy else ""
    return {
        "title": f"{group.slug} is stopped",
        "text": reason,
        "link": {"url": url, "label": "Open its policy"},
    }


#: part of the page -> what it needs, by the name in the template
PARTS: dict[str, dict[str, Callable[[Viewer], Any]]] = {
    "headline": {"headline": headline.load},
    "capacity_cards": {"capacity": capacity_cards},
    "states": {"states": states},
    "my_sessions": {"mine": mine},
    "feed": {"events": events},
}
_WHOLE: dict[str, Callable[[Viewer], Any]] = {
    "round": round_,
    "wasted_24h": overview.wasted_last_day,
    "notices": notices,
    "switch_news": switch_news.load,
}


def load(viewer: Viewer, part: str) -> dict[str, Any]:
    """Return the context of one part, or of the whole page for an empty name."""
    wanted = PARTS[part] if part else {**_WHOLE, **{k: v for need in PARTS.values() for k, v in need.items()}}
    return {name: build(viewer) for name, build in wanted.items()}
