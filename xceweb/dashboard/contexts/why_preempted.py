"""
Why a session was preempted: one sentence, then the proof in the order in which people ask.

Everything comes from the record of the decision and from what became of it. The other side appears with
queue, priority, size and times; its name only where the viewer may see that session anyway.
"""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.core import explain
from scheduler.core.preemption import shipped
from scheduler.selectors import explanations, slot_kinds, stored_rounds
from xceweb.common import wording
from xceweb.dashboard.contexts import (
    candidates,
    preemption_aftermath,
    preemption_rule,
    session_seen,
    session_tabs,
    shortages,
    words,
)

Then = dict[str, Any] | None


def load(seen: session_seen.Seen, victim: models.Victim) -> dict[str, Any]:
    """Return the explanation of one stop, for a viewer who may see more than the session's summary."""
    decision = victim.decision
    others = explanations.others(
        seen.viewer, {decision.session_id} | candidates.ids(decision.record["candidates"])
    )
    attempts, then = session_tabs.attempts(seen), stored_rounds.plain_snapshot(decision)
    return {
        "kind": "preempted",
        "sentence": sentence(victim, seen.kinds),
        "note": _note(victim),
        "short": short(seen, victim, then),
        "rule": preemption_rule.load(victim, others.get(decision.session_id)),
        "others": _others(seen, decision, others, ran_s=stored_rounds.ran_s(then)),
        "timing": preemption_aftermath.timing(seen, victim),
        "outcome": preemption_aftermath.outcome(decision),
        "lost": preemption_aftermath.lost(seen, victim),
        "next": preemption_aftermath.next_(seen, victim),
        "is_tried": True,
        "history": {"chart": None, "attempts": attempts} if len(attempts) > 1 else None,
        "who": _who(others.get(decision.session_id), decision),
        "proof": preemption_rule.proof(decision),
    }


def sentence(victim: models.Victim, kinds: dict[str, slot_kinds.Kind]) -> str:
    """Return the one sentence with both numbers, bold."""
    decision = victim.decision
    text = explain.why_preempted(
        decision.record,
        victim.session_id,
        queue=decision.session.queue.slug,
        node=decision.node.name,
        kinds=kinds,
    )
    return words.bold(text)


def _note(victim: models.Victim) -> str:
    text = f"Decided at {victim.decision.at:%Y-%m-%d %H:%M:%S} UTC, in its attempt **{victim.attempt}**"
    if victim.started_at_then is None:
        return f"{text}."
    ran = wording.as_microseconds(victim.decision.at - victim.started_at_then) // 1_000_000 * 1_000_000
    return f"{text}, after it had run **{wording.duration(ran)}**."


def short(seen: session_seen.Seen, victim: models.Victim, then: Then) -> dict[str, Any] | None:
    """Return what was short on the chosen node, by kind, and its devices before and after; ``then`` = the snapshot."""
    decision = victim.decision
    view = shortages.on_node(decision.record, decision.node_id)
    if view is None:
        return None
    before, after = _devices(victim, then)
    return {
        "node": decision.node.name,
        "before": {"cells": before, "text": _text(before)},
        "after": {"cells": after, "text": _text(after)},
        "kinds": shortages.rows(decision.record, view, seen.kinds, of=victim.session_id),
    }


def _devices(victim: models.Victim, then: Then) -> tuple[list[str], list[str]]:
    """Return the devices of the chosen node before and after the stop, as cells; empty without devices."""
    decision = victim.decision
    holders = stored_rounds.device_holders(then, decision.node_id, "cuda.device") if then else []
    stopped = {row["session_id"] for row in decision.record["victims"]}
    before = [_before(holder, victim.session_id) for holder in holders]
    wanted = decision.record["slots"].get("cuda.device", 0)
    after = []
    for holder, cell in zip(holders, before, strict=True):
        is_open = holder is None or holder in stopped
        after.append("reserved" if is_open and wanted > 0 else "free" if is_open else _untouched(cell))
        wanted -= 1 if is_open else 0
    return before, after


def _before(holder: int | None, victim_id: int) -> str:
    if holder is None:
        return "free"
    if holder == 0:
        return "reserved"
    return "you" if holder == victim_id else "allocated"


def _untouched(cell: str) -> str:
    return "allocated" if cell == "you" else cell


def _text(cells: list[str]) -> str:
    named = {"you": "yours", "allocated": "others'", "reserved": "reserved", "free": "free"}
    parts = [f"{cells.count(cell)} {word}" for cell, word in named.items() if cell in cells]
    return ", ".join(parts)


def _others(
    seen: session_seen.Seen,
    decision: models.Decision,
    others: dict[int, explanations.Other],
    *,
    ran_s: dict[int, int],
) -> dict[str, Any]:
    groups = candidates.by_node(decision, others, ran_s=ran_s, kinds=seen.kinds)
    return {
        "sentence": _why_these(decision, others),
        "value_label": "Own rank" if decision.axis == "owner" else "Priority",
        "nodes": [{"name": name, "text": _node_text(rows), "candidates": rows} for name, rows in groups],
    }


def _node_text(rows: list[dict[str, Any]]) -> str:
    chosen = sum(row["is_selected"] for row in rows)
    return f"{words.count(len(rows), 'candidate')}" + (f", **{chosen}** chosen" if chosen else "")


def _why_these(decision: models.Decision, others: dict[int, explanations.Other]) -> str:
    record = decision.record
    number, seen = len(record["victims"]), len(candidates.visible(record["candidates"], others))
    looked = f"looked at **{words.count(seen, 'session')}**, as far as you may see,"
    text = f"The scheduler {looked} and stopped **{number}**."
    if decision.axis == "owner":
        return f"{text} Among one's own sessions the lowest job priority goes first, and nobody who is not needed."
    return f"{text} {_proved(record)}"


def _proved(record: dict[str, Any]) -> str:
    """Say what is proved of the number of victims; records of before the proof have none."""
    proof, name = record.get("proof"), record["policy_name"]
    if not record["victims"]:
        return "Nobody had to stop: room that was kept for a session behind it is enough."
    if name not in shipped.FOR_QUEUES:
        return f"The preemption policy **{name}** chose; nobody of them could have been left out."
    if not record["is_fewest_proved"]:
        return "It found no smaller set within its budget of steps (**fewest not proved**)."
    text = f"No smaller number would have been enough{_ruled_out(proof)};"
    if proof is None or proof["is_best"]:
        return f"{text} among equals the lowest sum of priorities goes."
    return f"{text} that no equal number has a lower sum of priorities was not proved within its budget of steps."


def _ruled_out(proof: dict[str, Any] | None) -> str:
    if proof is None or proof["fewest"] < 2:
        return ""
    by_bound, by_search = proof["sets_by_bound"], proof["sets_by_search"]
    return f" (**{by_bound + by_search:,}** smaller sets ruled out, {by_bound:,} of them by a bound)"


def _who(other: explanations.Other | None, decision: models.Decision) -> dict[str, Any]:
    seen = words.shown(other)
    preemptor, value = decision.session, "job priority" if decision.axis == "owner" else "priority"
    described = (
        f"A session of queue {preemptor.queue.slug} with {value} {decision.preemptor_value}, "
        f"submitted at {preemptor.submitted_at:%Y-%m-%d %H:%M:%S} UTC"
    )
    if seen["url"]:
        return {"seen": seen["label"], "hidden": "", "url": seen["url"]}
    return {"seen": described, "hidden": "Its owner, its name and its program", "url": ""}
