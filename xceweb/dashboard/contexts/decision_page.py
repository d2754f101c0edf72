"""One decision, for ever: what was decided, who was stopped, by which rules, what became of it."""

from __future__ import annotations

import datetime
from typing import Any

from django import urls

from scheduler import models
from scheduler.core import decisions as core_decisions
from scheduler.core import explain, wording
from scheduler.selectors import (
    decisions,
    event_log,
    event_texts,
    explanations,
    permissions,
    signal_names,
    slot_kinds,
    stored_rounds,
)
from xceweb.common import marks
from xceweb.common import wording as texts
from xceweb.dashboard.contexts import candidates, preemption_aftermath, preemption_rule, shortages, words

Others = dict[int, explanations.Other]


def load(viewer: models.User, row: models.Decision, *, rerun: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the context of ``dashboard/decision_detail.html``; with what a re-run came to, if there was one."""
    kinds = slot_kinds.load()
    stopped = [one["session_id"] for one in row.record["victims"]]
    others = explanations.others(
        viewer, {row.session_id, *stopped} | candidates.ids(row.record["candidates"])
    )
    outcome = decisions.outcome_of(row)
    return {
        "decision": _decision(row, kinds, outcome),
        "facts": _facts(row),
        "short": _short(row, kinds),
        "victims": [_victim(row, one, (others, kinds)) for one in row.record["victims"]],
        "candidates": _candidates(row, others, kinds),
        "steps": _steps(viewer, row),
        "outcome_sentence": "" if outcome == "shadow" else _outcome(row),
        "proof": preemption_rule.proof(row, is_linked=False, rerun=rerun),
    }


def _outcome(row: models.Decision) -> str:
    """Return what became of it, as an answer to no question: without yes and no."""
    sentence: str = preemption_aftermath.outcome(row)["sentence"]
    text = sentence.removeprefix("Yes: ").removeprefix("No: ")
    return text[:1].upper() + text[1:]


def _decision(row: models.Decision, kinds: dict[str, slot_kinds.Kind], outcome: str) -> dict[str, Any]:
    policy = row.round.policy
    return {
        "number": row.pk,
        "sentence": words.bold(_sentence(row, kinds, outcome)),
        "note": _note(row),
        "at": row.at,
        "round": row.round.number,
        "group": row.group.slug,
        "axis": row.axis,
        "policy_name": row.policy_name,
        "policy_version": policy.version,
        "policy_url": urls.reverse("console:group-policy", args=[row.group.slug]),
        "node": row.node.name,
        "is_shadow": row.kind == models.Decision.Kind.SHADOW,
        "outcome": outcome,
        "json_url": urls.reverse("api:decision-record", args=[row.public_id]),
    }


def _sentence(row: models.Decision, kinds: dict[str, slot_kinds.Kind], outcome: str) -> str:
    """Return what is, was or would have been done, by where the decision stands now."""
    text = explain.why_preempting(row.record, node=row.node.name, kinds=kinds)
    singular, plural = _TENSES.get(outcome, ("was", "were"))
    return text.replace(" is being ", f" {singular} ", 1).replace(" are being ", f" {plural} ", 1)


_TENSES = {
    "open": ("is being", "are being"),
    "shadow": ("would have been", "would have been"),
    "withdrawn": ("was to be", "were to be"),
}


def _note(row: models.Decision) -> str:
    session = row.session
    value = "job priority" if row.axis == "owner" else "priority"
    text = f"For a session of queue **{session.queue.slug}** with {value} **{row.preemptor_value}**."
    count = getattr(row, "shadow", None)
    if count is None:
        return text
    times = words.count(count.count, "time")
    return (
        f"{text} Shadow: nothing was stopped. It came up **{times}**, last at {count.last_at:%H:%M:%S} UTC."
    )


def _facts(row: models.Decision) -> list[dict[str, Any]]:
    policy = row.round.policy
    limit = policy.preemption_min_runtime
    return [
        words.fact("Preemption", f"**{policy.preemption_state}**"),
        words.fact("Rules", f"version **{policy.version}** by {policy.created_by_name}", quote=policy.reason),
        words.fact("Scope", policy.preemption_scope.replace("_", " ")),
        words.fact("Order", policy.preemption_order.replace("-", " ")),
        words.fact("Mode", policy.preemption_mode),
        words.fact("Protected time", f"**{limit} s** after each start" if limit else "none"),
    ]


def _short(row: models.Decision, kinds: dict[str, slot_kinds.Kind]) -> list[dict[str, Any]]:
    view = shortages.on_node(row.record, row.node_id)
    return [] if view is None else shortages.rows(row.record, view, kinds)


def _victim(
    row: models.Decision, order: dict[str, Any], known: tuple[Others, dict[str, slot_kinds.Kind]]
) -> dict[str, Any]:
    others, kinds = known
    other = others.get(order["session_id"])
    stored = next((v for v in row.victims.all() if v.session_id == order["session_id"]), None)
    fate = getattr(stored, "fate", None) if stored else None
    return {
        **words.shown(other),
        "action": wording.ACTION[core_decisions.Action(order["action"])],
        "signal": signal_names.of(order["signal"]) if order["signal"] else "",
        "own": order["own_value"],
        "theirs": row.preemptor_value,
        "slots": slot_kinds.amounts(order["frees"], kinds),
        "state": other.session.state if other else "",
        "result": other.session.result if other else "",
        "stopped_us": (fate.at - row.at) // datetime.timedelta(microseconds=1) if fate else None,
        "lost": "nothing" if order["mode"] == "suspend" else "",
    }


def _candidates(row: models.Decision, others: Others, kinds: dict[str, slot_kinds.Kind]) -> dict[str, Any]:
    ran_s = stored_rounds.ran_s(stored_rounds.plain_snapshot(row))
    groups = candidates.by_node(row, others, ran_s=ran_s, kinds=kinds)
    shown = [
        {
            "name": name,
            "text": words.count(len(found), "candidate"),
            "candidates": found,
        }
        for name, found in groups
    ]
    return {"nodes": shown, "value_label": "Own rank" if row.axis == "owner" else "Priority"}


def _steps(viewer: models.User, row: models.Decision) -> list[dict[str, Any]]:
    seen = event_log.seen(event_log.rights_of(viewer), decisions.entries(row))
    found: list[dict[str, Any]] = []
    for entry, sight in seen:
        found.append(_step(entry, sight, found[-1]["at"] if found else None))
    return found


def _step(
    entry: event_log.Entry, sight: permissions.Sight, before: datetime.datetime | None
) -> dict[str, Any]:
    icon, css = marks.event(entry.type)
    return {
        "at": entry.at,
        "delay_us": texts.as_microseconds(entry.at - before) if before else None,
        "icon": icon,
        "css": css,
        "what": event_texts.text(entry, sight).replace("**", ""),
        "sub": "",
        "url": "",
    }
