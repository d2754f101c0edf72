"""What would have spared a session, and what would help it, as lines that were each tried by running a round."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.core.counterfactuals import answers, sentences
from scheduler.selectors import counterfactuals, permissions
from xceweb.dashboard.contexts import session_seen, words

_K = answers.Kind
_FIELDS = {
    _K.HIGHER_PRIORITY: "priority",
    _K.PRIORITY_AT_CAP: "priority",
    _K.HIGHER_JOB_PRIORITY: "job_priority",
}
_STATES = {
    counterfactuals.State.NOT_KEPT: "Could not be computed: the state of that time is no longer kept.",
    counterfactuals.State.DIFFERS: (
        "Could not be computed: this version of the scheduler decides that round otherwise than it was decided then."
    ),
    counterfactuals.State.POLICY: (
        "Could not be computed for a preemption policy of another package ({policies}): it failed when it was asked "
        "again, is gone, or is another version than then."
    ),
    counterfactuals.State.FAILED: "Could not be computed.",
}
_FOREIGN = (
    "Queues here choose victims by a policy of another package ({policies}): only values that were tried are said, "
    "no ranges."
)
_CUT = "Not everything could be tried in the time for it."


def ask(seen: session_seen.Seen, kind: str) -> counterfactuals.Told | None:
    """Return the answers for one explanation (``preempted`` or ``pending``), None for any other."""
    if kind == "preempted":
        return counterfactuals.for_victim(seen.viewer, seen.stops[0])
    return counterfactuals.for_waiting(seen.viewer, seen.session) if kind == "pending" else None


def load(seen: session_seen.Seen, kind: str) -> dict[str, Any]:
    """Return the context of ``dashboard/_counterfactuals.html``."""
    told = ask(seen, kind)
    if told is None or told.state != counterfactuals.State.FOUND:
        note = _STATES[told.state].format(policies=", ".join(told.policies)) if told else ""
        return {"told": {"suggestions": [], "note": note}}
    lines = sorted(_worth_saying(told.answers), key=lambda one: not one.helps)
    return {"told": {"suggestions": [_line(seen, one) for one in lines], "note": _note(seen, told, kind)}}


def say(seen: session_seen.Seen, answer: answers.Counterfactual) -> sentences.Said:
    """Write one answer with the installation's kinds."""
    return sentences.say(answer, sentences.Style(kinds=seen.kinds))


def _worth_saying(found: tuple[answers.Counterfactual, ...]) -> list[answers.Counterfactual]:
    """Where less of one kind is enough, leave out those of which less is no help, and less of everything."""
    if not any(one.helps and one.kind is _K.STARTS_WITH_LESS for one in found):
        return list(found)
    kept = (one for one in found if one.helps or one.kind is not _K.STARTS_WITH_LESS)
    return [one for one in kept if one.kind is not _K.STARTS_SCALED]


def _line(seen: session_seen.Seen, answer: answers.Counterfactual) -> dict[str, Any]:
    said = say(seen, answer)
    action = _action(seen, answer)
    end = "" if answer.helps else "no help"
    return {
        "helps": answer.helps,
        "label": said.change,
        "fact": words.bold(said.result),
        "end": end,
        "action": action,
    }


def _action(seen: session_seen.Seen, answer: answers.Counterfactual) -> dict[str, Any] | None:
    name = _FIELDS.get(answer.kind)
    if name is None or not answer.helps or not permissions.can_change(seen.viewer, seen.session):
        return None
    value = answer.facts["value"]
    url = urls.reverse("dashboard:session-act", args=[seen.session.public_id, "change"])
    return {"label": f"Set {name.replace('_', ' ')} {value}", "url": url, "fields": {name: value}}


def _note(seen: session_seen.Seen, told: counterfactuals.Told, kind: str) -> str:
    if not told.answers:
        notes = ["Nothing that was tried would change it."] if told.is_complete else []
    else:
        notes = [_tried(seen.stops[0].decision) if kind == "preempted" else _TRIED_NOW]
    if told.policies:
        notes.append(_FOREIGN.format(policies=", ".join(told.policies)))
    return " ".join(notes if told.is_complete else [*notes, _CUT])


def _tried(decision: models.Decision) -> str:
    return (
        f"Each line was tried: round {decision.round.number} run again with that one thing changed, everything else as "
        "it was. Spared means stopped for nobody in that round."
    )


_TRIED_NOW = (
    "Each line was tried just now: a round on the present state with that one thing changed. "
    "Nothing is reserved."
)
