"""Why a session waits: the headline, what is short and where, what was checked, who is ahead, would preemption help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import urls

from scheduler import models
from scheduler.core import decisions, explain, rooms
from scheduler.core.counterfactuals import waiting
from scheduler.selectors import capacity, counterfactuals, explanations, permissions, slot_kinds, verdicts
from xceweb.common import reasons, wording
from xceweb.dashboard.contexts import session_seen, shortages, weighed, words

R = decisions.PendReason
#: What a round looks at, in its order, and the reasons with which each step fails.
CHECKS: tuple[tuple[str, frozenset[R]], ...] = (
    ("Released, not held", frozenset({R.HELD})),
    ("Its queue serves the group", frozenset({R.UNKNOWN_QUEUE})),
    ("A node with its labels", frozenset({R.NO_MATCHING_NODE, R.NODE_UNAVAILABLE})),
    ("Group and queue start sessions", frozenset({R.GROUP_STOPPED, R.QUEUE_STOPPED})),
    ("Sessions that it depends on", frozenset({R.DEPENDENCY_IMPOSSIBLE, R.DEPENDENCY})),
    ("Begin time reached", frozenset({R.BEGIN_TIME})),
    ("A node large enough", frozenset({R.NEVER_FITS})),
    ("Within the limits of owner and queue", frozenset({R.EXCEEDS_OWNER_LIMIT, R.EXCEEDS_QUEUE_LIMIT})),
    ("Limits not used up", frozenset({R.OWNER_LIMIT, R.QUEUE_LIMIT})),
    ("Enough free on one node", frozenset({R.NO_RESOURCES, R.FRAGMENTED, R.HOLDS_CLAIM, R.POLICY_FAILED})),
    ("Not kept for others before it", frozenset({R.ROOM_CLAIMED, R.BEHIND_OTHERS})),
    ("Room is free now", frozenset({R.AWAITING_VICTIMS, R.AWAITING_RELEASE})),
)
#: Place of the last check that a round makes of every session, whatever the others say.
_FIRST_STEPS = next(i for i, (_, reasons) in enumerate(CHECKS) if R.EXCEEDS_QUEUE_LIMIT in reasons)
#: Headlines of sessions that lack slots: the page shows the nodes.
_SHORT = decisions.SHORT_OF_SLOTS | {
    R.HOLDS_CLAIM,
    R.ROOM_CLAIMED,
    R.AWAITING_VICTIMS,
    R.AWAITING_RELEASE,
    R.POLICY_FAILED,
}
_WAITING = frozenset({R.BEGIN_TIME, R.DEPENDENCY, R.AWAITING_VICTIMS, R.AWAITING_RELEASE})


def load(seen: session_seen.Seen) -> dict[str, Any]:
    """Return the explanation of a wait for a viewer who may see more than the summary."""
    row = explanations.pend_reason(seen.session)
    if row is None:
        row = models.PendReason(reason=R.NOT_EVALUATED.value, facts={}, nodes=[], candidates=[])
    if not row.nodes and row.reason in _SHORT:
        row.nodes = counterfactuals.nodes_now(seen.session)
    names = explanations.node_names(explanations.node_ids(row.nodes, row.candidates))
    return {
        "kind": "pending",
        "sentence": words.bold(sentence(row, seen.kinds)),
        "note": explain.pend_help(row.reason),
        "code": row.reason,
        "since": row.since,
        "round": row.round_number or None,
        "checked_at": row.seen_at,
        "help_url": reasons.url(row.reason),
        "next": _next(seen.session),
        "is_tried": row.reason in waiting.ASKED,
        "estimate": None,
        "short": _short(seen, row, names),
        "checks": _checks(row),
        "order": _order(seen),
        "preemption": weighed.load(seen, row, names),
    }


def sentence(row: models.PendReason, kinds: Mapping[str, slot_kinds.Kind]) -> str:
    """Return the headline in one sentence with its numbers."""
    return explain.pend_sentence({"reason": row.reason, "facts": row.facts}, kinds=kinds)


def _next(session: models.Session) -> str:
    kept = explanations.reservation(session)
    if kept is None:
        return ""
    leaving = kept.waits_for.count()
    start = f"Room is kept for it on **{kept.node.name}** until {kept.deadline:%H:%M:%S} UTC"
    if not leaving:
        return f"{start}; it starts in the next round."
    have = "has" if leaving == 1 else "have"
    return f"{start}; it starts when **{words.count(leaving, 'session')}** there {have} stopped."


def _short(
    seen: session_seen.Seen, row: models.PendReason, names: Mapping[int, str]
) -> dict[str, Any] | None:
    views = [view for view in row.nodes if view["note"] in ("", "no-set", "backoff")]
    if not views or row.reason not in _SHORT:
        return None
    asked = seen.session.slots
    nearest = min(
        views, key=lambda view: (len(explain.short_on(view)), sorted(view["short"].items()), view["node_id"])
    )
    kinds = [_kind(name, views, (asked, nearest), seen.kinds) for name in seen.kinds if name in asked]
    cells = _cells(seen, [view["node_id"] for view in views])
    main = next(iter(slot_kinds.amounts({k: asked[k] for k in seen.kinds if k in asked}, seen.kinds)), None)
    return {
        "kinds": kinds + _places(nearest),
        "nodes": [
            {**_node(view, names, main, seen.kinds), "cells": cells.get(view["node_id"], [])}
            for view in sorted(views, key=_nearness)
        ],
        "strip_label": "Devices",
    }


def _cells(seen: session_seen.Seen, node_ids: list[int]) -> dict[int, list[str]]:
    """Return the devices of the nodes as they are now, where the session asks for devices."""
    if "cuda.device" not in seen.session.slots:
        return {}
    uses = capacity.of_nodes(models.Node.objects.filter(pk__in=node_ids), viewer=seen.viewer)
    return {use.node.pk: use.cells.get("cuda.device", []) for use in uses}


def _nearness(view: Mapping[str, Any]) -> tuple[int, int]:
    return len(explain.short_on(view)), view["node_id"]


def _places(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the row of the session places of a node that has too few of them."""
    short = explain.short_on(view).get(rooms.PLACES)
    return [shortages.places(short)] if short else []


def _kind(
    name: str,
    views: list[Mapping[str, Any]],
    wanted: tuple[Mapping[str, int], Mapping[str, Any]],
    kinds: Mapping[str, slot_kinds.Kind],
) -> dict[str, Any]:
    asked, nearest = wanted
    free = [view["free"].get(name, 0) for view in views]
    return {
        "kind": slot_kinds.of(name, kinds),
        "asked": asked[name],
        "free": sum(free),
        "most": max(free),
        "short": nearest["short"].get(name, 0),
    }


def _node(
    view: Mapping[str, Any],
    names: Mapping[int, str],
    main: slot_kinds.Kind | None,
    kinds: Mapping[str, slot_kinds.Kind],
) -> dict[str, Any]:
    name = names.get(view["node_id"], "a node that is gone")
    short = explain.short_on(view)
    others = {kind: n for kind, n in short.items() if main is None or kind != main.name}
    return {
        "name": name,
        "url": urls.reverse("dashboard:node-detail", args=[name]) if view["node_id"] in names else "",
        "free": wording.amount(view["free"].get(main.name, 0), main) if main else words.NOTHING,
        "short": wording.slots(slot_kinds.amounts(short, kinds)),
        "others": f"{wording.slots(slot_kinds.amounts(others, kinds))} short" if others else "enough",
        "helps": _helps(view, kinds),
    }


def _helps(view: Mapping[str, Any], kinds: Mapping[str, slot_kinds.Kind]) -> str:
    if view["note"] == "backoff":
        return "closed to preemption for it for some minutes"
    if view["releasing"]:
        return f"{wording.slots(slot_kinds.amounts(view['releasing'], kinds))} is being released"
    return "one more place for a session" if view["sessions_short"] else "an end of a session there"


def _checks(row: models.PendReason) -> list[dict[str, Any]]:
    """Return every step: passed, failed by the headline or by a further reason, or not reached."""
    last = next((i for i, (_, reasons) in enumerate(CHECKS) if row.reason in reasons), None)
    if last is None:
        return []
    failed = [R(row.reason), *(R(code) for code in explain.pend_also(row.facts))]
    reached = max(last, _FIRST_STEPS)
    return [
        _check(label, [one for one in failed if one in reasons], is_reached=i <= reached)
        for i, (label, reasons) in enumerate(CHECKS)
    ]


def _check(label: str, failed: list[R], *, is_reached: bool) -> dict[str, Any]:
    fact = ", ".join(explain.pend_title(reason) for reason in failed)
    if failed:
        return {
            "result": "wait" if _WAITING.issuperset(failed) else "no",
            "label": label,
            "fact": fact,
            "end": "",
        }
    return {"result": "yes" if is_reached else "idle", "label": label, "fact": "", "end": ""}


def _order(seen: session_seen.Seen) -> dict[str, Any]:
    position, before = explanations.ahead(seen.viewer, seen.session)
    roles = permissions.roles_of(seen.viewer)
    shown = [
        explanations.Other(
            row, permissions.sight(seen.viewer, row, roles=roles), row.owner_id == seen.viewer.pk
        )
        for row in before
    ]
    start = position - len(shown)
    rows = [_ahead(other, start + i, seen) for i, other in enumerate(shown)]
    own = explanations.Other(seen.session, seen.sight, seen.session.owner_id == seen.viewer.pk)
    first = "Nobody is before it" if position == 1 else f"It is number **{position}** of those that wait here"
    order = f"{first}, by priority and then time of submission, as far as you may see."
    return {
        "sentence": f"{order} Nobody blocks those behind.",
        "rows": [*rows, {**_ahead(own, position, seen), "is_this": True}],
    }


def _ahead(other: explanations.Other, position: int, seen: session_seen.Seen) -> dict[str, Any]:
    row = other.session
    return {
        **words.shown(other),
        "position": position,
        "is_this": False,
        "priority": row.priority if other.is_named else words.NOTHING,
        "submitted_at": row.submitted_at,
        "slots": slot_kinds.amounts(row.slots, seen.kinds),
        "waits_for": verdicts.line(row) if other.is_named else "",
    }
