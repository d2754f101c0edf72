"""
Candidate victims with their verdicts, as the viewer may see them.

Whoever a decision stopped is its other side, and shows the priority that explains it (DESIGN 9). A mere candidate of
others shows what a viewer sees of any session (queue, size, times) and its verdict, without the numbers behind it:
nothing happened to it that its priority would have to explain. Private sessions are neither shown nor counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler import models
from scheduler.core import decisions, explain
from scheduler.selectors import explanations, permissions, slot_kinds
from xceweb.common import reasons
from xceweb.dashboard.contexts import words

Views = Iterable[Mapping[str, Any]]
Others = Mapping[int, explanations.Other]


def ids(views: Views) -> set[int]:
    """Return the session ids of stored candidate views."""
    return {int(view["session_id"]) for view in views}


def visible(views: Views, others: Others) -> list[Mapping[str, Any]]:
    """Return the candidates of which the viewer may know: those that he sees, and whoever the decision stopped."""
    return [
        view
        for view in views
        if view["verdict"] == decisions.Verdict.SELECTED or _is_seen(others.get(int(view["session_id"])))
    ]


def _is_seen(other: explanations.Other | None) -> bool:
    return other is not None and other.sight > permissions.Sight.NONE


def row(
    view: Mapping[str, Any],
    others: Others,
    *,
    axis: str,
    kinds: Mapping[str, slot_kinds.Kind],
    ran_s: int | None = None,
) -> dict[str, Any]:
    """Return one candidate: who (as far as visible), the verdict in words, queue, value, size, how long it had run."""
    other = others.get(int(view["session_id"]))
    icon, css = words.verdict_icon(view["verdict"])
    is_open = _is_open(view, other)
    verdict, fact = _worded(view, axis, is_open=is_open)
    return {
        **words.shown(other),
        "icon": icon,
        "css": css,
        "is_selected": view["verdict"] == "selected",
        "verdict": verdict,
        "help_url": reasons.url(view["verdict"]),
        "fact": words.bold(fact),
        "queue": other.session.queue.slug if other else words.NOTHING,
        "value": value(view, other, axis) if is_open else words.NOTHING,
        "slots": slot_kinds.amounts(other.session.slots, kinds) if other else {},
        "had_run_s": ran_s,
    }


def _is_open(view: Mapping[str, Any], other: explanations.Other | None) -> bool:
    """Say whether the numbers behind a verdict may be shown."""
    return view["verdict"] == decisions.Verdict.SELECTED or other is None or other.is_named


def _worded(view: Mapping[str, Any], axis: str, *, is_open: bool) -> tuple[str, str]:
    """Return a verdict in a word or two, and the sentence behind it where that says more; times are for everybody."""
    short = str(view["verdict"]).replace("-", " ").capitalize()
    if view["verdict"] == decisions.Verdict.SELECTED:
        return "Stopped", ""
    if not is_open and view["verdict"] != decisions.Verdict.MIN_RUNTIME:
        return short, ""
    whole = explain.verdict_text(view["verdict"], view["facts"], axis=axis)
    fact = whole.partition(": ")[2] or whole
    return short, "" if fact.capitalize() == short else fact


def value(view: Mapping[str, Any], other: explanations.Other | None, axis: str) -> object:
    """Return the compared number: as recorded, else (queue axis only) as it is now; others' own ranks stay hidden."""
    recorded = view["facts"].get("own")
    if recorded is not None and (axis == "queue" or other is None or other.is_named):
        return recorded
    if other is None or (axis == "owner" and not other.is_named):
        return words.NOTHING
    return other.session.priority if axis == "queue" else other.session.job_priority


def by_node(
    decision: models.Decision,
    others: Others,
    *,
    ran_s: Mapping[int, int],
    kinds: Mapping[str, slot_kinds.Kind],
) -> list[tuple[str, list[dict[str, Any]]]]:
    """
    Return node name -> the candidates of a decision that the viewer may know of, the chosen ones first.

    A multi-node session stands on its first node. One query.

    Args:
        ran_s: session id -> how long it had run by then, seconds; those that are missing had not started, or
            the round's snapshot is no longer kept.
    """
    views = visible(decision.record["candidates"], others)
    names = explanations.node_names(explanations.node_ids(views))
    groups: dict[str, list[dict[str, Any]]] = {}
    for view in sorted(views, key=lambda view: (view["verdict"] != "selected", view["session_id"])):
        node = min((names.get(pk, "") for pk in view["node_ids"]), default="") or "no node"
        found = row(view, others, axis=decision.axis, kinds=kinds, ran_s=ran_s.get(view["session_id"]))
        groups.setdefault(node, []).append(found)
    return sorted(groups.items())
