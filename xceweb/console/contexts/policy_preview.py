"""Who would be stopped now, for whom, what is lost and gained, and who is protected: the preview in words."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from scheduler import models
from scheduler.selectors import explanations, preview, rule_warnings, slot_kinds
from xceweb.common import wording
from xceweb.console import policy_form
from xceweb.console.contexts import preview_costs
from xceweb.dashboard.contexts import words

_MOST = 10
_THEN = {
    "suspend": "suspended, goes on later",
    "reschedule": "back to the queue",
    "terminate": "ends",
}
Others = dict[int, explanations.Other]


def load(
    viewer: models.User,
    form: policy_form.PolicyForm,
    found: preview.Preview,
    cautions: list[rule_warnings.Caution],
) -> dict[str, Any]:
    """Return the context of ``console/_preview.html`` for one hypothetical round."""
    kinds = slot_kinds.load()
    ids = {one.session.pk for one in found.victims} | {one.session.pk for one in found.starts}
    others = explanations.others(viewer, ids)
    is_listed = len(found.victims) <= _MOST
    listed = found.starts[:_MOST] if is_listed else []
    plans = [_plan(start, found, (others, kinds)) for start in listed]
    state = form.state()
    return {
        "round": found.round_number,
        "at": found.computed_at,
        "sentence": _sentence(found, state),
        "note": _note(found, state),
        "figures": preview_costs.figures(found, kinds),
        "stops": len(found.victims) if state == "on" else 0,
        "confirm_label": _confirm(found, form),
        "warnings": [] if state == "off" else [caution.text for caution in cautions],
        "needs_name": state == "on" and len(found.victims) > settings.CONFIRM_ABOVE_VICTIMS,
        "told": _told(found, state),
        "plans": plans,
        "more": _more(len(found.starts) - _MOST) if is_listed else "",
        "groups": None if is_listed else preview_costs.grouped(found, kinds),
        "away": preview_costs.away(found, others),
        **preview_costs.exposed(found, kinds),
    }


def refused(text: str) -> dict[str, Any]:
    """Return a preview that says why there is none."""
    nothing: dict[str, Any] = dict.fromkeys(("round", "at", "confirm_label", "told", "more", "untouched"))
    empty: dict[str, Any] = {"figures": [], "plans": [], "warnings": [], "protected": [], "exposure": []}
    empty |= {"groups": None, "away": []}
    return {
        **nothing,
        **empty,
        "sentence": f"There is no preview: {text}",
        "note": "",
        "stops": 0,
        "needs_name": False,
    }


def _sentence(found: preview.Preview, state: str) -> str:
    stops, starts = len(found.victims), len(found.starts)
    if state == "off":
        return "Off: **nobody** is stopped. What is being stopped is taken back where that is still possible."
    if not stops:
        return f"{_state(state)}: **nobody** would be stopped now."
    told = f"**{words.count(stops, 'session')}** so that **{words.count(starts, 'session')}** can start"
    if state == "shadow":
        return f"Shadow: it would record that it would have stopped {told}. **Nobody** is stopped."
    return f"On: the next round would stop {told}."


def _state(state: str) -> str:
    return "On" if state == "on" else "Shadow"


def _note(found: preview.Preview, state: str) -> str:
    if state == "off" and found.victims:
        return f"With preemption on it would stop **{words.count(len(found.victims), 'session')}** now."
    return ""


def _confirm(found: preview.Preview, form: policy_form.PolicyForm) -> str:
    state, stops = form.state(), len(found.victims)
    was = form.current.preemption_state
    if state == "on" and stops:
        verb = "Turn on" if was != "on" else "Save"
        return f"{verb} and stop {words.count(stops, 'session')}"
    if state != was:
        return {"on": "Turn on", "shadow": "Switch to shadow", "off": "Turn off"}[state]
    return "Save the policy"


def _told(found: preview.Preview, state: str) -> str:
    owners = {one.session.owner_id for one in found.victims}
    if state != "on" or not owners:
        return ""
    who = "person sees" if len(owners) == 1 else "people see"
    return f"**{len(owners)}** {who} the reason on their sessions' pages."


def _plan(
    start: preview.PreviewStart, found: preview.Preview, known: tuple[Others, dict[str, slot_kinds.Kind]]
) -> dict[str, Any]:
    others, kinds = known
    row = start.session
    other = others.get(row.pk)
    victims = [one for one in found.victims if one.preemptor.pk == row.pk]
    return {
        **words.shown(other),
        "who": f"{row.owner.get_username()}, queue {row.queue.slug}"
        if other and other.is_named
        else f"queue {row.queue.slug}",
        "need": f"needs {wording.slots(slot_kinds.amounts(row.slots, kinds))}, starts on {start.node}",
        **preview_costs.gain(start),
        "victims": [_victim(one, others, kinds) for one in victims],
    }


def _victim(one: preview.PreviewVictim, others: Others, kinds: dict[str, slot_kinds.Kind]) -> dict[str, Any]:
    other = others.get(one.session.pk)
    return {
        **words.shown(other),
        "owner": one.session.owner.get_username() if other and other.is_named else "",
        "queue": one.session.queue.slug,
        "value": f"{one.own_value} below {one.preemptor_value}",
        "slots": slot_kinds.amounts(one.slots, kinds),
        "had_run_s": one.ran_s,
        "lost": preview_costs.lost(one.lost, kinds) or "nothing",
        "then": _THEN[one.mode],
    }


def _more(count: int) -> str:
    return f"And {words.count(count, 'more session')} that would start." if count > 0 else ""
