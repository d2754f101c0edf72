"""The submit page beside its form: importances, units, and the dry run in words."""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.core import explain
from scheduler.selectors import dry_run, slot_kinds
from xceweb.common import wording
from xceweb.dashboard import submit_form
from xceweb.dashboard.contexts import variants, words


def load(viewer: models.User, form: submit_form.SubmitForm, *, token: str) -> dict[str, Any]:
    """Return the context of ``dashboard/session_submit.html``."""
    policy = viewer.policy
    cap = policy.max_priority if policy else 100
    units = {f"slot-{name}": kind.unit for name, kind in form.kinds.items() if not kind.is_bytes}
    return {
        "form": form,
        "slot_units": units,
        "tiers": submit_form.tiers(cap, policy.default_priority if policy else 10),
        "priority_cap": cap,
        "dry_run": refused(form) if form.errors else None if form.is_bound else incomplete(),
        "token": token,
    }


def answer(found: dry_run.DryRun, kinds: dict[str, slot_kinds.Kind]) -> dict[str, Any]:
    """Return the context of ``_dry_run.html`` for a request that would be accepted."""
    one = found.answer
    return {
        "outcome": "starts" if one.outcome == "stops" else one.outcome,
        "sentence": _sentence(one, kinds),
        "note": explain.pend_help(one.pend["reason"]) if one.pend else "",
        "at": found.at,
        "round": found.round_number,
        "facts": _facts(found, kinds),
        "suggestions": [variants.line(one, kinds) for one in found.variants if variants.helps(one)],
        "commands": [],
    }


def _sentence(one: dry_run.Answer, kinds: dict[str, slot_kinds.Kind]) -> str:
    where = ", ".join(one.nodes)
    if one.outcome == "starts":
        return f"It would **start now** on **{where}**."
    if one.outcome == "stops":
        whose = "of your own sessions" if one.axis == "owner" else "of lower queues"
        return f"It would stop **{words.count(one.victims, 'session')}** {whose} and start on **{where}**."
    text = words.bold(explain.pend_sentence(one.pend or {}, kinds=kinds))
    return f"It would **wait**. {text}" if one.outcome == "waits" else text


def _facts(found: dry_run.DryRun, kinds: dict[str, slot_kinds.Kind]) -> list[dict[str, Any]]:
    columns = found.columns
    return [
        words.fact("Asks for", wording.slots(slot_kinds.amounts(columns["slots"], kinds))),
        words.fact(
            "Priority",
            f"**{columns['priority']}** in queue {found.queue.slug}, at most {columns['priority_cap']}",
        ),
        words.fact("May stop", _may_stop(found)),
        words.fact("May be stopped", _may_be_stopped(found)),
    ]


def _may_stop(found: dry_run.DryRun) -> str:
    policy = found.group.policy
    if policy.preemption_state != "on":
        return f"nobody: preemption is {policy.preemption_state} in {found.group.slug}"
    parts = []
    if policy.preemption_scope != "queue":
        parts.append(f"your own sessions with a job priority below {found.columns['job_priority']}")
    names = found.queue.preemptible_queues.values_list("slug", flat=True)
    if policy.preemption_scope != "owner" and names:
        parts.append(f"sessions of {', '.join(names)} with a priority below {found.columns['priority']}")
    return ", then ".join(parts) or "nobody"


def _may_be_stopped(found: dry_run.DryRun) -> str:
    policy = found.group.policy
    if policy.preemption_state != "on":
        return "by nobody now"
    if not found.columns["is_preemptible"]:
        return "no: it opts out"
    if not found.queue.preemptible or policy.preemption_scope == "owner":
        return "only by your own higher sessions"
    names = ", ".join(found.queue.preempted_by.values_list("slug", flat=True))
    return f"by your own higher sessions and by {names}" if names else "only by your own higher sessions"


def incomplete() -> dict[str, Any]:
    """Return the context of ``_dry_run.html`` while there is nothing to judge yet."""
    note = "It needs a **name** and a **command** or a script before anything can be said."
    return {
        **_NOTHING,
        "outcome": "waits",
        "sentence": "**Fill in the form**: this tells what would happen.",
        "note": note,
    }


def refused(form: submit_form.SubmitForm) -> dict[str, Any]:
    """Return the context of ``_dry_run.html`` for a form with errors: each is told under its field's label."""
    texts = [_fault(form, name, " ".join(found)) for name, found in form.errors.items()]
    return {
        **_NOTHING,
        "outcome": "refused",
        "sentence": "It would **not be accepted** as it is.",
        "note": " ".join(texts),
    }


def _fault(form: submit_form.SubmitForm, name: str, text: str) -> str:
    text = text.replace("*", "")
    text = text if text.endswith(".") else f"{text}."
    return f"**{form[name].label}**: {text}" if name in form.fields else text


_NOTHING: dict[str, Any] = {"at": None, "round": None, "facts": [], "suggestions": [], "commands": []}
