"""
What a ``lifecycle`` case expects, compared with what happened.

Each key has one meaning; a key or a sentence that has none makes the case skipped, named with what could not be
judged. A false one makes it failed all the same.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from scheduler import models
from scheduler.scenarios import history, located, phrases

_SENTENCES = frozenset({"because", "check", "note", "then", "rule"})
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One expectation, judged."""

    what: str
    holds: bool | None  #: None = it cannot be judged
    text: str = ""  #: how it is, where it is not as expected
    is_sentence: bool = False  #: an explanation for people; never judged


Judge = Callable[[Any, history.History], list[Finding]]


def judge(expected: located.Table, seen: history.History) -> list[Finding]:
    """Return a finding for each key of an ``expect`` table."""
    return [finding for key, value in expected.items() for finding in _one(key, value, seen)]


def _one(key: str, value: Any, seen: history.History) -> list[Finding]:
    if key in _SENTENCES:
        return [Finding(key, None, is_sentence=True)]
    if key in _KEYS:
        return _KEYS[key](value, seen)
    for pattern, make in _PATTERNS:
        if match := re.fullmatch(pattern, key):
            return make(match[1], value, seen)
    return [_unknown(key, value)]


def _unknown(key: str, value: Any) -> Finding:
    return Finding(f"expect.{key}", None, f"this version cannot judge {_text(value)!r}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _finding(key: str, value: Any, holds: bool | None, got: Any) -> Finding:
    if holds is None:
        return _unknown(key, value)
    return Finding(f"expect.{key}", holds, f"it is {_text(got)}, expected {_text(value)}")


def _by_session(key: str, judge_one: Callable[[str, Any, history.History], tuple[bool | None, Any]]) -> Judge:
    """Return the judge of a table from session to something."""

    def judge_all(value: Any, seen: history.History) -> list[Finding]:
        if not isinstance(value, dict) or set(value) - set(seen.sessions):
            return [_unknown(key, value)]
        return [
            _finding(f"{key}.{name}", wanted, *judge_one(name, wanted, seen))
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
    if not isinstance(wanted, list) or set(wanted) - set(history.NOTICES):
        return None, got
    return [word for word in got if word in wanted] == list(wanted), got


def _result(name: str, wanted: Any, seen: history.History) -> tuple[bool | None, Any]:
    got = seen.row(name).result
    return wanted == got, got


# Decisions


def _victims(value: Any, seen: history.History) -> list[Finding]:
    """All that were ever told to stop, together."""
    got = sorted({victim for each in seen.preemptions() for victim in seen.victims(each)})
    holds = sorted(value) == got if isinstance(value, list) else None
    return [_finding("victims", value, holds, got)]


def _decision(value: Any, seen: history.History) -> list[Finding]:
    found = seen.preemptions()
    if isinstance(value, str):
        got = [seen.victims(each) for each in found]
        return [_finding("decision", value, phrases.said(value, seen), got or "none")]
    return _about("decision", value, found, seen)


def _numbered(number: str, value: Any, seen: history.History) -> list[Finding]:
    place = int(number)
    return _about(f"decision_{number}", value, seen.preemptions()[place - 1 : place], seen)


def _at_tick(ordinal: str, value: Any, seen: history.History) -> list[Finding]:
    """What one tick decided: ``no decision``, or a table about its decisions."""
    is_word = ordinal in _ORDINALS
    place = _ORDINALS.index(ordinal) if is_word else int(ordinal) - 1
    key = f"{ordinal}_tick" if is_word else f"tick_{ordinal}"
    ticks = [look for look in seen.looks if look.is_tick]
    if place >= len(ticks):
        return [Finding(f"expect.{key}", False, "there were fewer ticks")]
    tick = seen.looks.index(ticks[place])
    before = seen.looks[tick - 1].decisions if tick else frozenset()
    new = [each for each in seen.preemptions() if each.pk in ticks[place].decisions - before]
    if value in ("no decision", "none"):
        return [_finding(key, value, not new, [seen.victims(each) for each in new])]
    return _about(key, value, new, seen)


def _about(key: str, value: Any, found: list[models.Decision], seen: history.History) -> list[Finding]:
    """Judge a table about decisions: ``victims`` of all of them, ``outcome`` and ``target`` of the last."""
    if not isinstance(value, dict):
        return [_unknown(key, value)]
    if not found:
        return [Finding(f"expect.{key}", False, "there is no such decision")]
    findings = []
    for part, wanted in value.items():
        holds, got = _part(part, wanted, found, seen)
        findings.append(_finding(f"{key}.{part}", wanted, holds, got))
    return findings


def _part(
    part: str, wanted: Any, found: list[models.Decision], seen: history.History
) -> tuple[bool | None, Any]:
    last = found[-1]
    if part == "victims" and isinstance(wanted, list):
        got = sorted({victim for each in found for victim in seen.victims(each)})
        return sorted(wanted) == got, got
    if part == "outcome" and wanted in history.OUTCOMES:
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


def _total(value: Any, seen: history.History) -> list[Finding]:
    got = sum(len(seen.victims(each)) for each in seen.preemptions())
    return [_finding("preempted_total", value, phrases.number(value, got), got)]


# Sentences that mean something


def _said(key: str) -> Judge:
    def judge_text(value: Any, seen: history.History) -> list[Finding]:
        return [_finding(key, value, phrases.said(str(value), seen), "otherwise")]

    return judge_text


def _never(value: Any, seen: history.History) -> list[Finding]:
    texts = value if isinstance(value, list) else [value]
    return [_finding("never", text, phrases.never(str(text), seen), "so at some time") for text in texts]


def _one_of(value: Any, seen: history.History) -> list[Finding]:
    """One alternative must hold in all its parts."""
    if not isinstance(value, list):
        return [_unknown("one_of", value)]
    verdicts = [_alternative(each, seen) for each in value]
    holds = True if True in verdicts else None if None in verdicts else False
    states = seen.looks[-1].states
    return [_finding("one_of", value, holds, {name: states[name] for name in sorted(states)})]


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


def _promise(name: str, value: Any, seen: history.History) -> list[Finding]:
    """``withdrawn and recorded``: the decision for a session was taken back or handed on, and its record says so."""
    key = f"promise_of_{name}"
    if name not in seen.sessions or value != "withdrawn and recorded":
        return [_unknown(key, value)]
    kinds = [seen.outcome(each)[0] for each in seen.preemptions(name)]
    over = (models.Outcome.Kind.WITHDRAWN, models.Outcome.Kind.TRANSFERRED)
    return [_finding(key, value, bool(kinds) and kinds[0] in over, kinds or "no decision")]


def _after_step(number: str, value: Any, seen: history.History) -> list[Finding]:
    key = f"after_step_{number}"
    look = next((look for look in seen.looks if look.step == int(number)), None)
    if look is None or not isinstance(value, dict) or set(value) - set(look.states):
        return [_unknown(key, value)]
    return [
        _finding(
            f"{key}.{name}",
            wanted,
            phrases.of_session(str(wanted), name, look.states[name], seen),
            look.states[name],
        )
        for name, wanted in value.items()
    ]


def _same_in_every_mode(value: Any, seen: history.History) -> list[Finding]:
    return [] if value is True else [_unknown("same_in_every_mode", value)]


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
}
_PATTERNS: tuple[tuple[str, Callable[[str, Any, history.History], list[Finding]]], ...] = (
    (r"decision_(\d+)", _numbered),
    (r"after_step_(\d+)", _after_step),
    (r"(first|second|third|fourth|fifth)_tick", _at_tick),
    (r"tick_(\d+)", _at_tick),
    (r"promise_of_(\S+)", _promise),
)
