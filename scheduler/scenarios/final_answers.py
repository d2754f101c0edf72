"""
What a ``lifecycle`` case expects of the end: of waiting sessions as pictures do, who is where, what is in use.

``per_pending`` names the sessions; the keys of one session may stand alone where the case submits only one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.scenarios import answers, fields, findings, history, located, sayings

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


def in_state(state: str) -> Callable[[Any, history.History], list[findings.Finding]]:
    """Return the judge of the list of sessions that are in a state."""

    def judge(value: Any, seen: history.History) -> list[findings.Finding]:
        names = findings.names(value)
        if names is None or set(names) - set(seen.sessions):
            return [findings.unknown(state, value)]
        others = {name: seen.state(name) for name in names if seen.state(name) != state.upper()}
        return [findings.found(state, value, not others, others)]

    return judge


def _pending(value: Any, seen: history.History) -> list[findings.Finding]:
    """Judge ``pending``: a list of who waits, or what became of those who waited."""
    return (in_state("pending") if isinstance(value, list) else per_pending)(value, seen)


def _runs_on(value: Any, seen: history.History) -> list[findings.Finding]:
    if not isinstance(value, dict) or set(value) - set(seen.sessions):
        return [findings.unknown("runs_on", value)]
    found = []
    for name, wanted in value.items():
        nodes = findings.names(wanted if isinstance(wanted, list) else [wanted])
        got = seen.nodes_of(name)
        found.append(findings.found(f"runs_on.{name}", wanted, None if nodes is None else nodes == got, got))
    return found


def _used(value: Any, seen: history.History) -> list[findings.Finding]:
    """Judge what is allocated and reserved on nodes at the end; kinds that are not named do not matter."""
    if not isinstance(value, located.Table) or set(value) - set(seen.world.nodes):
        return [findings.unknown("used", value)]
    table = fields.Fields(value, "used", line=value.line, beyond=[])
    found = []
    for node in table.names():
        wanted, got = table.amounts(node), seen.looks[-1].used[node]
        holds = all(got.get(kind, 0) == amount for kind, amount in wanted.items())
        found.append(
            findings.found(f"used.{node}", wanted, holds, {kind: got.get(kind, 0) for kind in wanted})
        )
    return found


KEYS = {
    **{state: in_state(state) for state in ("running", "suspended", "terminated", "preempted")},
    "runs_on": _runs_on,
    "used": _used,
    "per_pending": per_pending,
    "pending": _pending,
    "forbidden": not_victims("forbidden"),
    "not_victims": not_victims("not_victims"),
    **{key: _alone(key) for key in ("outcome", "any_of", "count", "target", "reason")},
}
