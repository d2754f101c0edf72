"""Which rule allowed a preemption: the two numbers, the policy version in force then, who set it and why; the proof."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import explanations, signal_names
from xceweb.dashboard.contexts import words

_MODES = {
    "suspend": "suspend: victims stand still and go on later",
    "reschedule": "reschedule: victims return to the queue",
    "terminate": "terminate: victims end",
}


def load(victim: models.Victim, preemptor: explanations.Other | None) -> dict[str, Any]:
    """Return both numbers with whose they are, and the rules of that moment."""
    decision = victim.decision
    value = "job priority" if victim.axis == "owner" else "priority"
    return {
        "own": victim.own_value,
        "own_label": "This session",
        "own_detail": f"{value}, in queue {victim.session.queue.slug}",
        "theirs": victim.preemptor_value,
        "theirs_label": _label(victim, preemptor),
        "theirs_detail": f"{value}, in queue {decision.session.queue.slug}",
        "facts": _facts(victim),
    }


def _label(victim: models.Victim, preemptor: explanations.Other | None) -> str:
    if preemptor is not None and preemptor.is_named:
        return preemptor.session.name
    return "Another of the owner's sessions" if victim.axis == "owner" else "Another session"


def _facts(victim: models.Victim) -> list[dict[str, Any]]:
    policy = victim.decision.round.policy
    found = [
        words.fact("Rule", _rule(victim)),
        words.fact("Preemption", f"**{policy.preemption_state}** in {victim.decision.group.slug}"),
        words.fact("Rules", _set_by(policy), quote=policy.reason),
        words.fact("What happens to victims", _MODES[victim.mode]),
        words.fact("Warning", _warning(victim)),
    ]
    if policy.preemption_min_runtime:
        text = f"**{policy.preemption_min_runtime} s** after each start or resume; it had passed"
        found.append(words.fact("Protected time", text))
    return found


def _rule(victim: models.Victim) -> str:
    if victim.axis == "owner":
        return "An owner's session may stop sessions of the **same owner** with a **lower job priority**."
    source, target = victim.decision.session.queue.slug, victim.session.queue.slug
    return f"Queue **{source}** may stop sessions of queue **{target}** with a **lower priority**."


def _set_by(policy: models.PolicyVersion) -> str:
    return f"version **{policy.version}**, set by {policy.created_by_name} at {policy.created_at:%Y-%m-%d %H:%M} UTC"


def _warning(victim: models.Victim) -> str:
    if not victim.signal:
        return "none: it had not started yet"
    end = "SIGSTOP" if victim.mode == "suspend" else "SIGKILL"
    return f"**{signal_names.of(victim.signal)}**, then **{end}** after **{victim.grace_s} s**"


def _steps(record: dict[str, Any]) -> str:
    return f" in **{words.count(record['search_steps'], 'step')}**" if record["search_steps"] else ""


def proof(
    decision: models.Decision, *, is_linked: bool = True, rerun: dict[str, Any] | None = None
) -> dict[str, Any]:
    """
    Return where the whole record is, what it was decided from, and the button that runs it again.

    Args:
        decision: the preemption.
        is_linked: whether its page is another one than that of the proof.
        rerun: what a re-run came to, see ``rerun.load``.
    """
    record = decision.record
    looked = f"{words.count(len(record['nodes']), 'node')} and the candidates there"
    text = f"Round **{decision.round.number}** weighed {looked}{_steps(record)}; the record keeps every number above."
    return {
        "sentence": text,
        "decision_number": decision.pk,
        "decision_url": urls.reverse("dashboard:decision-detail", args=[decision.public_id])
        if is_linked
        else "",
        "rerun_url": urls.reverse("dashboard:decision-rerun", args=[decision.public_id]),
        "rerun": rerun,
        "digest": decision.round.digest[:16],
    }
