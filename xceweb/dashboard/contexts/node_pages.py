"""
Nodes by group, and one node with what runs on it.

Amounts and the states of devices are the node's and the same for everybody who sees it: what is in use is in use.
Sessions are listed, counted and named only for those who may see them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from scheduler import models
from scheduler.selectors import capacity, event_log, event_texts, explanations, nodes, permissions, slot_kinds
from xceweb.common import marks, wording
from xceweb.dashboard.contexts import capacity as capacity_context
from xceweb.dashboard.contexts import node_actions, words

Kinds = dict[str, slot_kinds.Kind]


def by_group(viewer: models.User) -> dict[str, Any]:
    """Return the context of ``dashboard/node_list.html``."""
    known, uses = slot_kinds.load(), nodes.uses(viewer)
    counts = nodes.running(viewer, [use.node for use in uses])
    groups: dict[str, list[capacity.NodeUse]] = {}
    for use in uses:
        groups.setdefault(use.node.group.slug, []).append(use)
    return {"groups": [_group(slug, found, (known, counts)) for slug, found in sorted(groups.items())]}


def _group(slug: str, uses: list[capacity.NodeUse], known: tuple[Kinds, Mapping[int, int]]) -> dict[str, Any]:
    return {
        "slug": slug,
        "name": slug,
        "largest": _largest(uses, known[0]),
        "nodes": cells(uses, *known),
    }


def _largest(uses: list[capacity.NodeUse], known: Kinds) -> str:
    """Return the free slots of the node with the most free devices, then cores: the largest request that fits."""
    ready = [use for use in uses if use.node.state == "ready"]
    if not ready:
        return "nothing"
    best = max(ready, key=lambda use: [use.slots[name].free if name in use.slots else 0 for name in known])
    free = {name: use.free for name, use in best.slots.items() if use.free}
    return wording.slots(slot_kinds.amounts(free, known))


def cells(uses: list[capacity.NodeUse], known: Kinds, counts: Mapping[int, int]) -> list[dict[str, Any]]:
    """Return nodes as ``_node_cells.html`` draws them."""
    return [_cell(use, known, counts.get(use.node.pk, 0)) for use in uses]


def _cell(use: capacity.NodeUse, known: Kinds, count: int) -> dict[str, Any]:
    return {
        "name": use.node.name,
        "state": use.node.state,
        "note": use.node.state_reason if use.node.state != "ready" else "",
        "kinds": [_kind(use, name, known) for name in _ordered(use, known)],
        "running": count,
    }


def _ordered(use: capacity.NodeUse, known: Kinds) -> list[str]:
    return [name for name in known if name in use.slots] + [name for name in use.slots if name not in known]


def _kind(use: capacity.NodeUse, name: str, known: Kinds) -> dict[str, Any]:
    kind, slot = slot_kinds.of(name, known), use.slots[name]
    return {
        "kind": kind,
        "label": capacity_context.label(slot, kind),
        "free": slot.free,
        "total": slot.capacity,
        "cells": use.cells.get(name, []),
        "parts": slot.parts(),
    }


def one(viewer: models.User, node: models.Node) -> dict[str, Any]:
    """Return the context of ``dashboard/node_detail.html``."""
    known = slot_kinds.load()
    uses = capacity.of_nodes(models.Node.objects.filter(pk=node.pk), viewer=viewer)
    devices, held = nodes.devices(node), nodes.holdings(node)
    claims = nodes.claims(node)
    ids = {device.session_id for device in devices if device.session_id} | {one.session.pk for one in held}
    others = explanations.others(viewer, ids | {claim.session_id for claim in claims})
    return {
        "node": _about(node),
        "kinds": capacity_context.kinds(uses, known, with_most=False),
        "devices": [_device(device, others) for device in devices],
        "sessions": [_session(item, others, known) for item in held if others[item.session.pk].sight],
        "claims": [_claim(claim, others, known) for claim in claims if others[claim.session_id].sight],
        "steps": _steps(node),
        "actions": node_actions.of(viewer, node),
        "has_keys_page": permissions.is_administrator(viewer),
    }


def _about(node: models.Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "group": node.group.slug,
        "state": node.state,
        "note": node.state_reason,
        "last_report_at": nodes.last_report(node),
        "labels": node.labels,
        "max_sessions": node.max_sessions,
        "enforced": _not_enforced(node),
    }


def _not_enforced(node: models.Node) -> list[str]:
    """Return a sentence for each thing that the node's host cannot enforce, as its agent said."""
    agent = getattr(node, "agent", None)
    told = (agent.facts or {}).get("enforce") or {} if agent else {}
    missing = [name for name, is_possible in told.items() if not is_possible]
    known = [sentence for name, sentence in _NOT_ENFORCED.items() if name in missing]
    return known + [
        f"This host cannot enforce: {name}." for name in sorted(set(missing) - set(_NOT_ENFORCED))
    ]


#: What an agent says that its host cannot enforce -> what that means for sessions.
_NOT_ENFORCED = {
    "multi_user": "Single-user mode: all sessions run here as one account and are not protected from one another.",
    "cgroup_v2": "No shares by control groups (cgroup v2): a session's memory is not limited as a whole. Each of its"
    " processes may have as much of its own as the session asked for, at least 256 MiB; shared memory is not limited."
    " Sessions that asked for a part of a processor can use more.",
    "processes": "The number of processes of a session is not limited.",
    "affinity": "Sessions are not bound to processors (affinity).",
    "freezer": "Sessions are suspended by signals, not by a freezer: who runs their processes can continue them. The"
    " agent looks every 5 seconds and stops them again.",
}


def _device(device: nodes.Device, others: dict[int, explanations.Other]) -> dict[str, Any]:
    """Return one device; who holds it only where that may be seen, so that a private session looks like any other."""
    other = others.get(device.session_id) if device.session_id else None
    shown = words.shown(other) if other is not None and other.is_named else {"label": "", "url": ""}
    return {
        "kind": device.kind,
        "index": device.index,
        "state": device.state,
        "session": shown["label"],
        "url": shown["url"],
    }


def _session(item: nodes.Holding, others: dict[int, explanations.Other], known: Kinds) -> dict[str, Any]:
    row, other = item.session, others[item.session.pk]
    numbers = [str(number) for indices in item.indices.values() for number in indices]
    return {
        **words.shown(other),
        "state": row.state,
        "result": row.result,
        "queue": row.queue.slug,
        "priority": row.priority if other.is_named else words.NOTHING,
        "slots": slot_kinds.amounts(item.slots, known),
        "devices": ", ".join(numbers) if other.is_named else "",
        "since_s": max(0, int((timezone.now() - row.state_since).total_seconds())),
    }


def _claim(claim: models.Claim, others: dict[int, explanations.Other], known: Kinds) -> dict[str, Any]:
    """Return one session for which room is kept here, whether any is free yet or not."""
    row = claim.session
    return {
        **words.shown(others[row.pk]),
        "queue": row.queue.slug,
        "slots": slot_kinds.amounts(row.slots, known),
        "since": claim.since,
    }


def _steps(node: models.Node) -> list[dict[str, Any]]:
    return [_step(entry) for entry in event_log.of_node(node)]


def _step(entry: event_log.Entry) -> dict[str, Any]:
    icon, css = marks.event(entry.type)
    text = event_texts.predicate(entry, permissions.Sight.OPERATIONS).replace("**", "")
    return {
        "at": entry.at,
        "delay_us": None,
        "icon": icon,
        "css": css,
        "what": text[:1].upper() + text[1:],
        "sub": str(entry.data.get("reason") or ""),
        "url": "",
    }
