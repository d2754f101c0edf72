"""What the viewer may do to a node now: the buttons, each with what it means before it is pressed."""

from __future__ import annotations

from typing import Any

from django import urls
from django.utils import timezone

from scheduler import models
from scheduler.selectors import drains, nodes, permissions
from xceweb.common import wording

_REASON = {"name": "reason", "label": "Reason", "type": "text", "value": "", "required": True}


def of(viewer: models.User, node: models.Node) -> list[dict[str, Any]]:
    """Return the actions that are possible in the present state; none for those who may not act."""
    if not permissions.can_act_on_nodes(viewer, node.group):
        return []
    actions = [_drain(node) if node.state == "ready" else _ready(node)]
    if permissions.is_administrator(viewer) and nodes.is_silent(node, seconds=nodes.SUSPECT_AFTER_S):
        actions.append(_lost(node))
    return actions


def _drain(node: models.Node) -> dict[str, Any]:
    return _action(node, ("draining", "Drain"), consequences(drains.preview(node)))


def _ready(node: models.Node) -> dict[str, Any]:
    return _action(node, ("ready", "Make ready"), "Sessions start there again in the next round.")


def _lost(node: models.Node) -> dict[str, Any]:
    """Return the button of an administrator who knows that a silent node will not come back by itself."""
    text = (
        "Its sessions are counted lost: those that may start anew wait again, the others end; their slots are free at"
        " once. Be sure that the node is off or cut from everything that its sessions write to: they may run on there."
    )
    action = _action(node, ("lost", "Declare lost"), text, key="lost", tone="danger")
    name = {"name": "confirm", "label": f"Write {node.name}", "type": "text", "value": "", "required": True}
    return {**action, "fields": [*action["fields"], name]}


def _action(
    node: models.Node, choice: tuple[str, str], text: str, *, key: str = "state", tone: str = "primary"
) -> dict[str, Any]:
    state, label = choice
    words = f"{label} {node.name}" if key == "state" else f"Declare {node.name} lost"
    return {
        "key": key,
        "label": label,
        "url": urls.reverse("dashboard:node-act", args=[node.name]),
        "title": f"{words}?",
        "text": text,
        "button": words,
        "tone": tone,
        "fields": [{"name": "state", "type": "hidden", "value": state}, _REASON],
    }


def consequences(found: drains.Preview) -> str:
    """Say in sentences what draining a node would mean."""
    sentences = ["Nothing new starts there.", _of_active(found)]
    if found.suspended:
        sentences.append(f"{_sessions(found.suspended)} suspended there may resume all the same.")
    if found.under_way:
        what = "preemption or wait" if found.under_way == 1 else "preemptions and waits"
        sentences.append(
            f"{found.under_way} {what} for room there: taken back, where the stop has not gone too far."
        )
    if found.stranded:
        verb = "waits" if found.stranded == 1 else "wait"
        sentences.append(
            f"{_sessions(found.stranded)} that {verb} could start on no other node that is ready."
        )
    return " ".join(sentences)


def _of_active(found: drains.Preview) -> str:
    if not found.active:
        return "Nothing runs there."
    runs = f"{_sessions(found.active)} {'goes' if found.active == 1 else 'go'} on"
    if found.last_end is None:
        return f"{runs}, at least one of them without a time limit." if found.active > 1 else f"{runs}."
    left_s = max(0, int((found.last_end - timezone.now()).total_seconds()))
    return f"{runs}, for at most {wording.duration(left_s * wording.MICROSECONDS)}."


def _sessions(count: int) -> str:
    return f"{count} session" if count == 1 else f"{count} sessions"
