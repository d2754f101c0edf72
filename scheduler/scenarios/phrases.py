"""
What expectations of ``lifecycle`` cases may say in words, and what it means: a closed list.

A phrase answers True or False; what stands in no phrase answers None, and the case is skipped for it rather than
passed. ``A or B`` holds when one of them holds; what follows a colon is explanation.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from scheduler import models
from scheduler.core import decisions, states
from scheduler.scenarios import answers, fields, history

_STATES = frozenset(state.name for state in states.SessionState)
_NUMBERS = {"a": 1, "one": 1, "a second": 2, "a third": 3}
#: Reasons of a session that passed its checks and lacks slots.
_LACKS = decisions.SHORT_OF_SLOTS | {decisions.PendReason.POLICY_FAILED}


def of_session(
    text: str, name: str, state: str, seen: history.History, look: history.Look | None = None
) -> bool | None:
    """
    Judge what is said of one session's state: states, phrases about it, joined by ``or``; ``RUNNING on n2``.

    Args:
        name: the session.
        state: its state then, upper case.
        look: how the cluster stood then; None = at the end.
    """
    head = text.partition(":")[0]
    return _any([_of_session(part.strip(), name, state, (seen, look)) for part in head.split(" or ")])


def _of_session(
    part: str, name: str, state: str, at: tuple[history.History, history.Look | None]
) -> bool | None:
    seen, look = at
    part = re.sub(r"\s*\([^()]*\)$", "", part)
    if part in _STATES:
        return part == state
    if match := re.fullmatch(r"([A-Z]+) on (\S+)", part):
        nodes = seen.nodes_of(name) if look is None else look.nodes[name]
        return match[1] == state and match[2] in nodes if match[1] in _STATES else None
    if match := re.fullmatch(r"(a|one|a second|a third) decision made", part):
        return len(seen.preemptions(name)) >= _NUMBERS[match[1]]
    return None


def _any(verdicts: list[bool | None]) -> bool | None:
    if True in verdicts:
        return True
    return None if None in verdicts else False


def said(text: str, seen: history.History) -> bool | None:
    """Judge a sentence that must hold: about decisions, notes, alerts, promises."""
    return _any([_first(_SAID, part.strip(), seen) for part in text.split(" or ")])


def never(text: str, seen: history.History) -> bool | None:
    """Judge a sentence that must hold at no time."""
    verdict = _first(_NEVER, text.strip(), seen)
    return None if verdict is None else not verdict


def waits_since(text: str, name: str, seen: history.History) -> bool | None:
    """Judge what is said of why a session waits, or waited: a reason's code, or that slots were kept for another."""
    if text in list(decisions.PendReason):
        return not answers.headlines(text).isdisjoint(
            look.waits[name].reason for look in seen.looks if name in look.waits
        )
    match = re.fullmatch(r"slots on (\S+) are kept for (\S+)", text)
    return _were_kept(seen, name, node=match[1], holder=match[2]) if match else None


def number(text: object, got: int) -> bool | None:
    """Judge a number: ``3``, or ``<= 3`` with any comparison."""
    if type(text) is int:
        return text == got
    match = re.fullmatch(r"(<=|>=|<|>|=)\s*(\d+)", str(text))
    if match is None:
        return None
    limit = int(match[2])
    holds = {"<=": got <= limit, ">=": got >= limit, "<": got < limit, ">": got > limit, "=": got == limit}
    return holds[match[1]]


_Judge = Callable[[history.History, re.Match[str]], bool | None]


def _first(table: tuple[tuple[str, _Judge], ...], text: str, seen: history.History) -> bool | None:
    for pattern, judge in table:
        if match := re.fullmatch(pattern, text):
            return judge(seen, match)
    return None


def _has_no_decision(seen: history.History, match: re.Match[str]) -> bool:
    return not seen.preemptions()


def _plan_without(seen: history.History, match: re.Match[str]) -> bool:
    found = seen.preemptions()
    return bool(found) and match[1] not in seen.victims(found[-1])


def _is_flagged(seen: history.History, match: re.Match[str]) -> bool | None:
    if match[1] not in seen.sessions:
        return None
    return models.Event.objects.filter(type="session.stuck", session=seen.sessions[match[1]]).exists()


def _is_remarked(seen: history.History, match: re.Match[str]) -> bool:
    return f"ignored: {match[0]}" in seen.remarks


_SAID: tuple[tuple[str, _Judge], ...] = (
    (r"none|no decision", _has_no_decision),
    (r"a new plan without (\S+)", _plan_without),
    (r"(\S+) is flagged to the admin(?:istrator)?s?", _is_flagged),
    (r"exit report of run (\d+)", _is_remarked),
)


# What must never be


def _used_above(seen: history.History, match: re.Match[str]) -> bool | None:
    """Say whether more was in use on a node than a number of its one kind, after any step."""
    node, limit = match[1], match[2]
    kinds = {kind for look in seen.looks for kind in look.used.get(node, {})}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    most = int(limit) * fields.kind(kind).scale
    return any(look.used[node].get(kind, 0) > most for look in seen.looks)


def _has_empty_promise(seen: history.History, match: re.Match[str]) -> bool | None:
    """Say whether, after any round, a session waited on a reservation that can never be complete."""
    name = match[1]
    if name not in seen.sessions:
        return None
    kept = [look.kept[name] for look in seen.looks if look.is_tick and name in look.kept]
    return any(
        each.drawn.get(kind, 0) + each.promised.get(kind, 0) < amount
        for each in kept
        for kind, amount in each.asked.items()
    )


def _waits_for_ever(seen: history.History, match: re.Match[str]) -> bool | None:
    """Say whether at the end a session waits although a decision for it is over and no other was made."""
    name = match[1]
    if name not in seen.sessions:
        return None
    last = seen.looks[-1]
    if last.states[name] != states.SessionState.PENDING.name or name in last.kept:
        return False
    return bool(seen.preemptions(name))


def _was_told_to_stop(seen: history.History, match: re.Match[str]) -> bool | None:
    if match[1] not in seen.sessions:
        return None
    return any(match[1] in seen.victims(each) for each in seen.preemptions())


def _was_in_state(seen: history.History, match: re.Match[str]) -> bool | None:
    if match[1] not in seen.sessions or match[2] not in _STATES:
        return None
    return any(look.states.get(match[1]) == match[2] for look in seen.looks)


_NEVER: tuple[tuple[str, _Judge], ...] = (
    (r"(\S+) (?:is |was )?(?:stopped|preempted|told to stop|a victim)", _was_told_to_stop),
    (r"(\S+) (?:is |was )?([A-Z]+)", _was_in_state),
    (r"used\((\S+)\) above (\d+)", _used_above),
    (r"(\S+) pending with a promise nobody can keep", _has_empty_promise),
    (r"(\S+) pending for ever.*", _waits_for_ever),
)


def _were_kept(seen: history.History, name: str, *, node: str, holder: str) -> bool:
    """Say whether a session lacked slots on a node, after a round, that were drawn for another one."""
    return any(_is_kept_from(look, name, node, holder) for look in seen.looks if look.is_tick)


def _is_kept_from(look: history.Look, name: str, node: str, holder: str) -> bool:
    kept, wait = look.kept.get(holder), look.waits.get(name)
    is_waiting = wait is not None and wait.reason in _LACKS
    return is_waiting and kept is not None and kept.node == node and any(kept.drawn.values())
