"""
What a ``lifecycle`` case expects of its waiting sessions as pictures do: outcome, victims, target, rule and reason.

``per_pending`` names the sessions; the keys of one session may stand alone where the case submits only one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.scenarios import answers, findings, history, sayings

_SENTENCES = frozenset({"because", "check", "note", "then"})
Verdict = tuple[bool | None, Any]


def per_pending(value: Any, seen: history.History) -> list[findings.Finding]:
    """Judge a table from session to what is expected of it."""
    if not isinstance(value, dict) or set(value) - set(seen.submitted):
        return [findings.unknown("per_pending", value)]
    return [finding for name, wanted in value.items() for finding in _one(name, wanted, seen)]


def _one(name: str, wanted: Any, seen: history.History) -> list[findings.Finding]:
    if not isinstance(wanted, dict):
        return [findings.unknown(f"per_pending.{name}", wanted)]
    answer = seen.answer(name)
    return [
        _judged(f"per_pending.{name}.{key}", key, value, answer)
        for key, value in wanted.items()
        if key not in _SENTENCES
    ]


def _judged(label: str, key: str, value: Any, answer: answers.Answer) -> findings.Finding:
    if key not in _PARTS:
        return findings.unknown(label, value)
    return findings.found(label, value, *_PARTS[key](value, answer))


def _outcome(value: Any, answer: answers.Answer) -> Verdict:
    known = value in [str(outcome) for outcome in answers.Outcome]
    return (value == answer.outcome if known else None), str(answer.outcome)


def _victims(value: Any, answer: answers.Answer) -> Verdict:
    wanted = findings.names(value)
    return (None if wanted is None else wanted == list(answer.victims)), list(answer.victims)


def _any_of(value: Any, answer: answers.Answer) -> Verdict:
    sets = [findings.names(each) for each in value] if isinstance(value, list) else []
    if not sets or None in sets:
        return None, list(answer.victims)
    return list(answer.victims) in sets, list(answer.victims)


def _count(value: Any, answer: answers.Answer) -> Verdict:
    return (value == len(answer.victims) if type(value) is int else None), len(answer.victims)


def _target(value: Any, answer: answers.Answer) -> Verdict:
    return answer.target in (value if isinstance(value, list) else [value]), answer.target


def _rule(value: Any, answer: answers.Answer) -> Verdict:
    names = value if isinstance(value, list) else [value]
    is_any = not answer.rule or bool({"all", str(answers.Rule.MINIMAL)} & {str(name) for name in names})
    return (True if is_any or str(answer.rule) in names else None), str(answer.rule)


def _reason(value: Any, answer: answers.Answer) -> Verdict:
    meant = sayings.reasons(str(value))
    holds = answer.reason in meant.codes
    return (holds if holds or meant.is_exact else None), answer.reason or "none"


_PARTS: dict[str, Callable[[Any, answers.Answer], Verdict]] = {
    "outcome": _outcome,
    "victims": _victims,
    "any_of": _any_of,
    "count": _count,
    "target": _target,
    "rule": _rule,
    "reason": _reason,
}


def _alone(key: str) -> Callable[[Any, history.History], list[findings.Finding]]:
    """Return the judge of a key that speaks of the only session that the case submits."""

    def judge(value: Any, seen: history.History) -> list[findings.Finding]:
        if len(seen.submitted) != 1:
            return [findings.unknown(key, value)]
        return [_judged(key, key, value, seen.answer(seen.submitted[0]))]

    return judge


def not_victims(key: str) -> Callable[[Any, history.History], list[findings.Finding]]:
    """Return the judge of a list of sessions that nobody may ever have told to stop."""

    def judge(value: Any, seen: history.History) -> list[findings.Finding]:
        names = findings.names(value)
        if names is None or set(names) - set(seen.sessions):
            return [findings.unknown(key, value)]
        stopped = {victim for each in seen.preemptions() for victim in seen.victims(each)}
        told = sorted(stopped & set(names))
        return [findings.found(key, value, not told, told)]

    return judge


KEYS = {
    "per_pending": per_pending,
    "pending": per_pending,
    "forbidden": not_victims("forbidden"),
    "not_victims": not_victims("not_victims"),
    **{key: _alone(key) for key in ("outcome", "any_of", "count", "target", "reason")},
}
