"""
Sentences from decisions: why a session waits, why it was stopped, why another was not.

Everything here takes the stored plain form of a decision (``snapshot.to_plain``) or plain values, so that
pages, mails and the API render from the record alone. No identities: whoever may see a session's name adds it
outside.
Source: DESIGN 7, 9, 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler.core import amounts, decisions, entities, moments, rooms, shortage_sentences, units, wording

Plain = Mapping[str, Any]
Clock = Callable[[int], str]
Kinds = amounts.Kinds
_R = decisions.PendReason


class _Blank(dict[str, Any]):
    """Facts in which a missing word is left out of the sentence."""

    def __missing__(self, key: str) -> str:
        return ""


# Why pending


def pend_title(reason: str) -> str:
    """Return the short name of a reason, for lists."""
    return wording.PEND_TITLE[_R(reason)]


def pend_help(reason: str) -> str:
    """Return what a person can do about a reason."""
    return wording.PEND_HELP[_R(reason)]


def pend_also(facts: Plain) -> list[str]:
    """Return the codes of the further reasons that apply once the headline is gone, in order."""
    return str(facts["also"]).split(", ") if "also" in facts else []


def pend_sentence(pend: Plain, *, kinds: Kinds = units.BUILT_IN, clock: Clock = moments.utc) -> str:
    """
    Say, with the numbers, why a session waits.

    Args:
        pend: the plain form of a Pend: at least ``reason`` and ``facts``.
        kinds: the declared slot kinds, for units.
        clock: writes a moment (microseconds) for the reader's time zone.
    """
    reason, facts = _R(pend["reason"]), pend["facts"]
    if reason in shortage_sentences.WRITERS:
        return shortage_sentences.WRITERS[reason](facts, kinds)
    if reason is _R.HOLDS_CLAIM:
        return _holds_claim(facts, kinds, clock)
    if reason is _R.BEGIN_TIME:
        return f"It may not start before {clock(facts['until'])}."
    if reason in (_R.AWAITING_VICTIMS, _R.AWAITING_RELEASE):
        return _awaiting(reason, facts, clock)
    return " ".join(_PLAIN[reason].format_map(_Blank(facts)).split())


_PLAIN: Mapping[decisions.PendReason, str] = {
    _R.HELD: "It is held and starts only after it has been released.",
    _R.UNKNOWN_QUEUE: "Its queue {queue} does not serve this group any more.",
    _R.GROUP_STOPPED: "This group is stopped: nothing new starts in it.",
    _R.QUEUE_STOPPED: "Its queue {queue} is stopped: nothing of it starts.",
    _R.DEPENDENCY: "A session that it depends on has not ended yet.",
    _R.DEPENDENCY_IMPOSSIBLE: "A session that it depends on ended otherwise than asked: it can never start.",
    _R.NO_MATCHING_NODE: "No node of this group has the labels that it requires: {labels}.",
    _R.NODE_UNAVAILABLE: "It is suspended on {node}, which is not available now.",
    _R.POLICY_FAILED: "Not enough is free, and nobody is stopped for it: {policy}.",
    _R.ROOM_CLAIMED: (
        "Enough is free on {kept}, but it is kept for a session ahead of it that has waited too long."
    ),
    _R.BEHIND_OTHERS: ("Enough is free on {reserved}, but it was reserved for other sessions before."),
    _R.NOT_EVALUATED: "No round has looked at it yet.",
}


def _awaiting(reason: decisions.PendReason, facts: Plain, clock: Clock) -> str:
    count, node = facts.get("sessions", 1), facts.get("node", "")
    who = amounts.one("sessions", count)
    until = f", at the latest until {clock(facts['until'])}" if "until" in facts else ""
    if reason is _R.AWAITING_VICTIMS and count == 0:
        return f"Room on {node} that was kept for a session behind it is kept for it now{until}."
    if reason is _R.AWAITING_VICTIMS:
        return f"Room is being made for it on {node}: {who} told to stop{until}."
    if count == 0:
        return f"Room is kept for it on {node}{until}."
    return f"Room is kept for it on {node}, where {who} {'is' if count == 1 else 'are'} ending anyway{until}."


def _holds_claim(facts: Plain, kinds: Kinds, clock: Clock) -> str:
    until = f", at the latest until {clock(facts['until'])}" if "until" in facts else ""
    kept = f"It has waited too long: sessions behind it leave its room on {facts.get('kept', '')} alone"
    return f"{shortage_sentences.no_resources(facts, kinds)} {kept}{until}."


# Why preempted

_TAKEN = "room there from a session behind it"


def why_preempted(
    preempt: Plain, victim_id: int, *, queue: str, node: str, kinds: Kinds = units.BUILT_IN
) -> str:
    """
    Say why one victim was stopped, with both numbers.

    Args:
        preempt: the plain form of a Preempt.
        victim_id: one of its victims.
        queue: name of the preemptor's queue.
        node: name of the node where the preemptor starts.
        kinds: the declared slot kinds, for units.

    Returns:
        ``Stopped so that a session of queue urgent with priority 20 could start on gpu-1; yours was 5. It was
        4 GPUs short there, and yours frees 4.``

    Raises:
        KeyError: the session is not a victim of this decision.
    """
    victim, axis = _victim(preempt, victim_id), entities.Axis(preempt["axis"])
    done = wording.ACTION[decisions.Action(victim["action"])].capitalize()
    value, theirs, own = wording.VALUE[axis], preempt["preemptor_value"], victim["own_value"]
    first = f"{done} so that a session of queue {queue} with {value} {theirs} could start on {node}"
    return f"{first}; yours was {own}.{_what_was_short(preempt, victim, kinds)}"


def _what_was_short(preempt: Plain, victim: Plain, kinds: Kinds) -> str:
    short = short_before(preempt)
    frees = dict(victim["frees"])
    if victim["action"] != decisions.Action.REQUEUE_SUSPENDED:  # a suspended session holds no place
        frees[rooms.PLACES] = 1
    helps = {kind: number for kind, number in frees.items() if kind in short}
    if not helps:
        return ""
    missing, held = amounts.listed(short, kinds=kinds), amounts.listed(helps, kinds=kinds)
    if preempt.get("takes_over") is None:
        return f" It was {missing} short there, and yours frees {held}."
    return f" It takes over {_TAKEN}; beside that it was {missing} short, and yours frees {held}."


def short_before(preempt: Plain) -> dict[str, int]:
    """Return what was short on the chosen node before anybody was stopped, beside what is taken over; by kind."""
    for view in preempt["nodes"]:
        if view["node_id"] == preempt["node_id"]:
            return short_on(view)
    return {}


def short_on(view: Plain) -> dict[str, int]:
    """Return what was short on one node, by kind; session places as ``rooms.PLACES``."""
    places = view.get("sessions_short", 0)
    return dict(view["short"]) | ({rooms.PLACES: places} if places else {})


def _victim(preempt: Plain, victim_id: int) -> Plain:
    for victim in preempt["victims"]:
        if victim["session_id"] == victim_id:
            found: Plain = victim
            return found
    raise KeyError(victim_id)


def what_next(preempt: Plain, victim_id: int) -> str:
    """Say what becomes of a victim, by the mode that the decision fixed."""
    return wording.NEXT[entities.PreemptionMode(_victim(preempt, victim_id)["mode"])]


def why_preempting(preempt: Plain, *, node: str, kinds: Kinds = units.BUILT_IN) -> str:
    """Say for the preemptor what is done so that it can start."""
    count, short = len(preempt["victims"]), short_before(preempt)
    if not count:
        return f"It takes over the room on {node} that is being made for a session behind it."
    who = "1 lower session is" if count == 1 else f"{count} lower sessions are"
    missing = f", to make up for {amounts.listed(short, kinds=kinds)}" if short else ""
    taken = f", beside what it takes over: {_TAKEN}" if preempt.get("takes_over") is not None else ""
    return f"{who} being stopped on {node}{missing}{taken}."


def verdict_text(verdict: str, facts: Plain, *, axis: str = "owner", clock: Clock = moments.utc) -> str:
    """
    Say what was thought of one candidate.

    Args:
        verdict: a value of Verdict.
        facts: the numbers recorded with it.
        axis: the decision's axis, which says what was compared.
        clock: writes a moment for the reader's time zone.
    """
    words: dict[str, Any] = dict(facts)
    words["value"] = wording.VALUE[entities.Axis(axis)]
    words["until"] = f" until {clock(facts['until'])}" if "until" in facts else ""
    return wording.VERDICT[decisions.Verdict(verdict)].format_map(_Blank(words))


def verdict_counts(candidates: Iterable[Plain]) -> dict[str, int]:
    """Return how many candidates got each verdict, most frequent first, then by name."""
    counts: dict[str, int] = {}
    for candidate in candidates:
        counts[candidate["verdict"]] = counts.get(candidate["verdict"], 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
