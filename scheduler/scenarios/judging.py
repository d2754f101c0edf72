"""
Compare the answers of a ``select`` case with what it expects.

An expectation belongs to a rule of choosing; one for another rule than that in force is compared by the case's
``expect_alternative``, or not at all. Sentences for people are no expectations: they are named as not compared. Where
nothing was compared, nothing has passed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler.core import entities, release
from scheduler.core.preemption import eligibility
from scheduler.scenarios import answers, entries, errors, fields, located, picture, sayings

Verdict = answers.Verdict
_SENTENCES = ("because", "then", "note", "check")
_OUTCOMES = [str(outcome) for outcome in answers.Outcome]
_RULES = ("all", *(str(rule) for rule in answers.Rule if rule))
#: Sessions that must not be among the victims.
_FORBIDDEN = ("forbidden", "never", "not_victims")


def judge(case: entries.Case, found: Mapping[str, answers.Answer]) -> answers.Result:
    """
    Return the result of a case that ran; shown are the pending sessions, and suspended ones that it speaks of.

    Args:
        found: an answer for each session that waits.
    """
    shown = {name: found[name] for name in [one.id for one in case.pending] + _named(case, found)}
    try:
        return dataclasses.replace(_judged(case, found), pending=shown)
    except errors.BadScenario as error:
        return answers.Result(case.id, Verdict.FAILED, str(error), shown)
    except errors.NotExpressible as error:
        return answers.Result(case.id, Verdict.SKIPPED, str(error), shown)


def _named(case: entries.Case, found: Mapping[str, answers.Answer]) -> list[str]:
    """Return the sessions that the case speaks of one by one."""
    table = (case.expect or {}).get("per_pending")
    return [name for name in table if name in found] if isinstance(table, dict) else []


def _judged(case: entries.Case, found: Mapping[str, answers.Answer]) -> answers.Result:
    if case.expect is None:
        return answers.Result(case.id, Verdict.SKIPPED, "it expects nothing")
    beyond: list[str] = []
    expected = fields.Fields(case.expect, "expect", line=case.line, beyond=beyond)
    expected = _for_rule(case, expected, found, beyond)
    comparison = _Comparison(case)
    for name, wanted in _per_pending(case, expected, found):
        comparison.compare(name, wanted, found[name])
    comparison.compare_all(expected, found)
    beyond += comparison.beyond
    if comparison.differences:
        return answers.Result(case.id, Verdict.FAILED, "; ".join(comparison.differences))
    if beyond:
        return answers.Result(case.id, Verdict.SKIPPED, "; ".join(dict.fromkeys(beyond)))
    if not comparison.compared:
        return answers.Result(case.id, Verdict.SKIPPED, "it expects nothing that can be compared")
    why = f"not compared: {', '.join(dict.fromkeys(comparison.sentences))}" if comparison.sentences else ""
    return answers.Result(case.id, Verdict.PASSED, why)


def _for_rule(
    case: entries.Case, expected: fields.Fields, found: Mapping[str, answers.Answer], beyond: list[str]
) -> fields.Fields:
    """Return the expectation for a rule that chose victims; where nobody was stopped, for one that might have."""
    in_force = _rules_in_force(case, found)
    if _is_for(expected, in_force):
        return expected
    if case.alternative is not None:
        other = fields.Fields(case.alternative, "expect_alternative", line=case.line, beyond=beyond)
        if _is_for(other, in_force):
            return other
    named = ", ".join(_rules(expected))
    raise errors.NotExpressible(
        f"its answer is for the rule {named}, and the rule in force is {' or '.join(in_force)}"
    )


def _rules_in_force(case: entries.Case, found: Mapping[str, answers.Answer]) -> list[answers.Rule]:
    used = [answer.rule for answer in found.values() if answer.rule]
    if used:
        return list(dict.fromkeys(used))
    rules = case.config.rules
    order = entities.PreemptionOrder(rules["preemption_order"])
    axes = eligibility.SCOPES[entities.PreemptionScope(rules["preemption_scope"])]
    return [answers.rule_in_force(axis, order, "") for axis in axes]


def _rules(expected: fields.Fields) -> list[str]:
    value = expected.take("rule", "all")
    names = [value] if isinstance(value, str) else expected.words("rule") or []
    unknown = sorted(set(names) - set(_RULES))
    if unknown:
        raise expected.fault("rule", f"must be of {', '.join(_RULES)}, not {', '.join(unknown)}")
    return names


def _is_for(expected: fields.Fields, rules: Sequence[answers.Rule]) -> bool:
    names = _rules(expected)
    return not {"all", str(answers.Rule.MINIMAL), *map(str, rules)}.isdisjoint(names)


def _per_pending(
    case: entries.Case, expected: fields.Fields, found: Mapping[str, answers.Answer]
) -> Iterable[tuple[str, fields.Fields]]:
    table = expected.table("per_pending")
    if len(case.pending) == 1 and not table.names():
        yield case.pending[0].id, expected
    for name in table.names():
        if name not in found:
            raise table.fault(name, "is no session of the case that waits")
        yield name, table.table(name, f"expect of {name}")


@dataclasses.dataclass
class _Comparison:
    """Differences found so far."""

    case: entries.Case
    compared: int = 0
    differences: list[str] = dataclasses.field(default_factory=list)
    beyond: list[str] = dataclasses.field(default_factory=list)
    sentences: list[str] = dataclasses.field(default_factory=list)

    def compare_all(self, wanted: fields.Fields, found: Mapping[str, answers.Answer]) -> None:
        """Compare what is said beside ``per_pending``: of the victims of all sessions together."""
        if wanted.has("per_pending") or len(self.case.pending) > 1:
            victims = {victim for answer in found.values() for victim in answer.victims}
            self._victims("all", wanted, answers.Answer(answers.Outcome.PREEMPT, tuple(sorted(victims))))
            self._close(wanted)

    def _close(self, wanted: fields.Fields) -> None:
        wanted.take("rule"), wanted.take("per_pending")
        self.sentences += [key for key in _SENTENCES if wanted.take(key) is not None]
        wanted.close()

    def compare(self, name: str, wanted: fields.Fields, answer: answers.Answer) -> None:
        """Compare one session's answer with its table."""
        if wanted.take("outcome") is not None:
            self._same(name, "outcome", wanted.word("outcome", "", _OUTCOMES), str(answer.outcome))
        if targets := wanted.words("target"):
            self._one_of(name, "target", targets, answer.target)
        self._victims(name, wanted, answer)
        self._reason(name, wanted, answer)
        self._freed(name, wanted, answer)
        self._close(wanted)

    def _same(self, name: str, what: str, expected: Any, got: Any) -> None:
        self.compared += 1
        if expected != got:
            self.differences.append(f"{name}: {what} is {_shown(got)}, expected {_shown(expected)}")

    def _one_of(self, name: str, what: str, acceptable: list[Any], got: Any) -> None:
        self.compared += 1
        if got not in acceptable:
            wanted = " or ".join(_shown(each) for each in acceptable)
            self.differences.append(f"{name}: {what} is {_shown(got)}, expected {wanted}")

    def _victims(self, name: str, wanted: fields.Fields, answer: answers.Answer) -> None:
        got = list(answer.victims)
        if (victims := wanted.words("victims")) is not None:
            self._same(name, "victims", self._known(wanted, "victims", victims), got)
        if (sets := wanted.take("any_of")) is not None:
            if not isinstance(sets, located.Items) or not sets:
                raise wanted.fault("any_of", "must be a list of lists of names")
            acceptable = [self._known(wanted, "any_of", _names(wanted, each)) for each in sets]
            self._one_of(name, "victims", acceptable, got)
        if (count := wanted.number("count", least=0)) is not None:
            self._same(name, "count of victims", count, len(answer.victims))
        for key in _FORBIDDEN:
            if wanted.has(key):
                self._forbidden(name, key, wanted, got)

    def _forbidden(self, name: str, key: str, wanted: fields.Fields, got: list[str]) -> None:
        """Compare a list of sessions that must not be victims; a sentence is none."""
        value = wanted.take(key)
        if isinstance(value, str) and value not in {one.id for one in self.case.running}:
            self.beyond.append(f"line {wanted.line_of(key)}: {key} says {value!r}, which cannot be compared")
            return
        names = self._known(wanted, key, wanted.words(key) or [])
        if names:  # of nobody there is nothing to compare
            self._same(name, f"victims that are {key}", [], [each for each in got if each in names])

    def _known(self, wanted: fields.Fields, key: str, names: list[str]) -> list[str]:
        """Return names of running sessions, sorted."""
        if unknown := sorted(set(names) - {one.id for one in self.case.running}):
            raise wanted.fault(key, f"names {', '.join(unknown)}, which is no running session")
        return sorted(names)

    def _reason(self, name: str, wanted: fields.Fields, answer: answers.Answer) -> None:
        text = wanted.take("reason")
        if text is None:
            return
        meant = sayings.reasons(str(text))
        if meant.is_exact:
            self.compared += 1
            if answer.reason not in meant.codes:
                self._same(name, "reason", meant.text, answer.reason)
        elif answer.reason in meant.codes:
            self.compared += 1
        else:
            line = wanted.line_of("reason")
            self.beyond.append(
                f"line {line}: reason {fields.shown(text)!r} cannot be compared with {_shown(answer.reason)}"
            )

    def _freed(self, name: str, wanted: fields.Fields, answer: answers.Answer) -> None:
        if not wanted.has("freed"):
            return
        table = wanted.table("freed")
        expected = {node: table.amounts(node) for node in table.names()}
        self._same(name, "freed", expected, _freed(self.case, answer))


def _names(wanted: fields.Fields, value: Any) -> list[str]:
    if not isinstance(value, located.Items):
        raise wanted.fault("any_of", "must be a list of lists of names")
    return [str(each) for each in value]


def _freed(case: entries.Case, answer: answers.Answer) -> dict[str, dict[str, int]]:
    """Return what the victims free on each of their nodes, each as it would be stopped."""
    shown = picture.Picture(case)
    view, names = shown.snapshot(), {pk: name for name, pk in shown.nodes.items()}
    queues, sessions = ({one.id: one for one in rows} for rows in (view.queues, view.sessions))
    freed: dict[str, dict[str, int]] = {}
    for victim in (sessions[shown.sessions[name]] for name in answer.victims):
        for node_id, amounts in release.plan_stop(victim, queues.get(victim.queue_id), view.policy).frees:
            here = freed.setdefault(names[node_id], {})
            for kind, amount in amounts:
                here[kind] = here.get(kind, 0) + amount
    return freed


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value) or "none"
    return str(value) or "none"
