"""
What a ``lifecycle`` case expects, compared with what happened.

Each key has one meaning; a key or a sentence that has none makes the case skipped, named with what could not be
judged. A false one makes it failed all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from scheduler import models
from scheduler.scenarios import final_answers, findings, history, located, phrases

_SENTENCES = frozenset({"because", "check", "note", "then", "rule"})
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


Judge = Callable[[Any, history.History], list[findings.Finding]]


def judge(expected: located.Table, seen: history.History) -> list[findings.Finding]:
    """Return a finding for each key of an ``expect`` table."""
    return [finding for key, value in expected.items() for finding in _one(key, value, seen)]


def _one(key: str, value: Any, seen: history.History) -> list[findings.Finding]:
    if key in _SENTENCES:
        return [findings.Finding(key, None, is_sentence=True)]
    if key in _KEYS:
        return _KEYS[key](value, seen)
    for pattern, make in _PATTERNS:
        if match := re.fullmatch(pattern, key):
            return make(match[1], value, seen)
    return [findings.unknown(key, value)]


def _by_session(key: str, judge_one: Callable[[str, Any, history.History], tuple[bool | None, Any]]) -> Judge:
    """Return the judge of a table from session to something."""

    def judge_all(value: Any, seen: history.History) -> list[findings.Finding]:
        if not isinstance(value, dict) or set(value) - set(seen.sessions):
            return [findings.unknown(key, value)]
        return [
            findings.found(f"{key}.{name}", wanted, *judge_one(name, wanted, seen))
            for name, wanted in value.items()
        ]

    return judge_all


# States, numbers, notices


def _state(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    state = seen.state(name)
    return phrases.of_session(str(wanted), name, state, seen), state


def _times_stopped(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    got = seen.times_stopped(name)
    return phrases.number(wanted, got), got


def _run_of(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    got = seen.row(name).attempt
    return phrases.number(wanted, got), got


def _decisions(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    got = len(seen.preemptions(name))
    return phrases.number(wanted, got), got


def _reason(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    row = models.PendReason.objects.filter(session=seen.sessions[name]).first()
    return phrases.waits_since(str(wanted), name, seen), row.reason if row else "none"


def _notices(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    got = seen.notices(name)
    if not isinstance(wanted, list) or not all(str(each) in history.NOTICES for each in wanted):
        return None, got
    return [word for word in got if word in wanted] == list(wanted), got


def _result(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    got = seen.row(name).result
    return wanted == got, got


# Decisions


def _victims(value: Any, seen: history.History) -> list[findings.Finding]:
    """All that were ever told to stop, together."""
    got = sorted({victim for each in seen.preemptions() for victim in seen.victims(each)})
    wanted = findings.names(value)
    holds = None if wanted is None else wanted == got
    return [findings.found("victims", value, holds, got)]


def _decision(value: Any, seen: history.History) -> list[findings.Finding]:
    found = seen.preemptions()
    if isinstance(value, str):
        got = [seen.victims(each) for each in found]
        return [findings.found("decision", value, phrases.said(value, seen), got or "none")]
    return _about("decision", value, found, seen)


def _numbered(number: str, value: Any, seen: history.History) -> list[findings.Finding]:
    place = int(number)
    return _about(f"decision_{number}", value, seen.preemptions()[place - 1 : place], seen)


def _at_tick(ordinal: str, value: Any, seen: history.History) -> list[findings.Finding]:
    """What one tick decided: ``no decision``, or a table about its decisions."""
    is_word = ordinal in _ORDINALS
    place = _ORDINALS.index(ordinal) if is_word else int(ordinal) - 1
    key = f"{ordinal}_tick" if is_word else f"tick_{ordinal}"
    ticks = [look for look in seen.looks if look.is_tick]
    if place >= len(ticks):
        return [findings.Finding(f"expect.{key}", False, "there were fewer ticks")]
    tick = seen.looks.index(ticks[place])
    before = seen.looks[tick - 1].decisions if tick else frozenset()
    new = [each for each in seen.preemptions() if each.pk in ticks[place].decisions - before]
    if value in ("no decision", "none"):
        return [findings.found(key, value, not new, [seen.victims(each) for each in new])]
    return _about(key, value, new, seen)


def _about(
    key: str, value: Any, found: list[models.Decision], seen: history.History
) -> list[findings.Finding]:
    """Judge a table about decisions: ``victims`` of all of them, ``outcome`` and ``target`` of the last."""
    if not isinstance(value, dict):
        return [findings.unknown(key, value)]
    if not found:
        return [findings.Finding(f"expect.{key}", False, "there is no such decision")]
    judged = []
    for part, wanted in value.items():
        holds, got = _part(part, wanted, found, seen)
        judged.append(findings.found(f"{key}.{part}", wanted, holds, got))
    return judged


def _part(
    part: str, wanted: Any, found: list[models.Decision], seen: history.History
) -> tuple[bool | None, Any]:
    last = found[-1]
    if part == "victims" and (names := findings.names(wanted)) is not None:
        got = sorted({victim for each in found for victim in seen.victims(each)})
        return names == got, got
    if part == "outcome" and str(wanted) in history.OUTCOMES:
        kind, cause = seen.outcome(last)
        return _is_outcome(str(wanted), kind, cause), f"{kind or 'open'} {cause}".strip()
    if part == "target":
        return last.node.name == wanted, last.node.name
    return None, ""


def _is_outcome(word: str, kind: str, cause: str) -> bool:
    wanted_kind, wanted_cause = history.OUTCOMES[word]
    if wanted_cause:
        return cause == wanted_cause and kind in ("", wanted_kind)
    return kind == wanted_kind


def _total(value: Any, seen: history.History) -> list[findings.Finding]:
    got = sum(len(seen.victims(each)) for each in seen.preemptions())
    return [findings.found("preempted_total", value, phrases.number(value, got), got)]


# Sentences that mean something


def _said(key: str) -> Judge:
    def judge_text(value: Any, seen: history.History) -> list[findings.Finding]:
        return [findings.found(key, value, phrases.said(str(value), seen), "otherwise")]

    return judge_text


def _never(value: Any, seen: history.History) -> list[findings.Finding]:
    texts = value if isinstance(value, list) else [value]
    return [
        findings.found("never", text, phrases.never(str(text), seen), "so at some time") for text in texts
    ]


def _one_of(value: Any, seen: history.History) -> list[findings.Finding]:
    """One alternative must hold in all its parts."""
    if not isinstance(value, list):
        return [findings.unknown("one_of", value)]
    verdicts = [_alternative(each, seen) for each in value]
    holds = True if True in verdicts else None if None in verdicts else False
    states = seen.looks[-1].states
    return [findings.found("one_of", value, holds, {name: states[name] for name in sorted(states)})]


def _alternative(value: Any, seen: history.History) -> bool | None:
    if not isinstance(value, dict):
        return phrases.said(str(value), seen)
    verdicts: list[bool | None] = []
    for key, wanted in value.items():
        if key in seen.sessions:
            verdicts.append(phrases.of_session(str(wanted), key, seen.state(key), seen))
        else:
            verdicts += [finding.holds for finding in _one(key, wanted, seen)]
    return False if False in verdicts else None if None in verdicts else True


def _promise(name: str, value: Any, seen: history.History) -> list[findings.Finding]:
    """``withdrawn and recorded``: the decision for a session was taken back or handed on, and its record says so."""
    key = f"promise_of_{name}"
    if name not in seen.sessions or value != "withdrawn and recorded":
        return [findings.unknown(key, value)]
    kinds = [seen.outcome(each)[0] for each in seen.preemptions(name)]
    over = (models.Outcome.Kind.WITHDRAWN, models.Outcome.Kind.TRANSFERRED)
    return [findings.found(key, value, bool(kinds) and kinds[0] in over, kinds or "no decision")]


def _after_step(number: str, value: Any, seen: history.History) -> list[findings.Finding]:
    key = f"after_step_{number}"
    look = next((look for look in seen.looks if look.step == int(number)), None)
    if look is None or not isinstance(value, dict) or set(value) - set(look.states):
        return [findings.unknown(key, value)]
    return [
        findings.found(
            f"{key}.{name}",
            wanted,
            phrases.of_session(str(wanted), name, look.states[name], seen, look),
            look.states[name],
        )
        for name, wanted in value.items()
    ]


def _same_in_every_mode(value: Any, seen: history.History) -> list[findings.Finding]:
    return [] if value is True else [findings.unknown("same_in_every_mode", value)]


_KEYS: dict[str, Judge] = {
    "state": _by_session("state", _state),
    "preemptions": _by_session("preemptions", _times_stopped),
    "run_of": _by_session("run_of", _run_of),
    "decisions": _by_session("decisions", _decisions),
    "pending_reason": _by_session("pending_reason", _reason),
    "notice_to_owner_of": _by_session("notice_to_owner_of", _notices),
    "result": _by_session("result", _result),
    "victims": _victims,
    "decision": _decision,
    "preempted_total": _total,
    "alert": _said("alert"),
    "ignored": _said("ignored"),
    "never": _never,
    "one_of": _one_of,
    "same_in_every_mode": _same_in_every_mode,
    **final_answers.KEYS,
}
_PATTERNS: tuple[tuple[str, Callable[[str, Any, history.History], list[findings.Finding]]], ...] = (
    (r"decision_(\d+)", _numbered),
    (r"after_step_(\d+)", _after_step),
    (r"(first|second|third|fourth|fifth)_tick", _at_tick),
    (r"tick_(\d+)", _at_tick),
    (r"promise_of_(\S+)", _promise),
)
