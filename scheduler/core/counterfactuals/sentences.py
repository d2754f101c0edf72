"""Counterfactuals in words: the change, and what comes of it, with the numbers that were tried."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from scheduler.core import amounts, moments, units
from scheduler.core.counterfactuals import answers

_K, _O = answers.Kind, answers.Outcome


@dataclasses.dataclass(frozen=True, slots=True)
class Style:
    """How amounts and moments are written for one reader."""

    kinds: amounts.Kinds = dataclasses.field(default_factory=lambda: units.BUILT_IN)
    clock: Callable[[int], str] = moments.utc


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """One answer in two parts, as a list shows it."""

    change: str
    result: str

    @property
    def sentence(self) -> str:
        """Return it as one sentence."""
        return f"{self.change}, {self.result}."


def say(answer: answers.Counterfactual, style: Style | None = None) -> Said:
    """
    Write one answer.

    Returns:
        ``With job priority 6 or more instead of 5`` and ``it would have been spared``.
    """
    change, result = _WRITERS[answer.kind](answer, style or Style())
    return Said(change, result)


def duration(seconds: int) -> str:
    """Write a span: ``50 seconds``, ``3 minutes``, ``1 hour 2 minutes 5 seconds``."""
    parts = []
    for word, size in (("hour", 3600), ("minute", 60), ("second", 1)):
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number} {word}" if number == 1 else f"{number} {word}s")
    return " ".join(parts) or "0 seconds"


def _number(answer: answers.Counterfactual, name: str) -> int:
    return int(answer.facts[name])


_SECOND = 1_000_000
_SPARED, _NOT_SPARED = "it would have been spared", "it would have been stopped all the same"


def _spared_rank(name: str) -> Callable[[answers.Counterfactual, Style], tuple[str, str]]:
    def write(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
        facts = answer.facts
        if not answer.helps:
            return f"With any {name} above {facts['own']}", _NOT_SPARED
        value, most = facts["value"], facts.get("most")
        upto = "or more" if most is None else f"to {most}"
        ranks = str(value) if most == value else f"{value} {upto}"
        return f"With {name} {ranks} instead of {facts['own']}", _SPARED

    return write


def _later(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    least, later = duration(_number(answer, "min_runtime")), duration(_number(answer, "seconds"))
    return f"Had it started {later} later", f"the minimum runtime of {least} would have spared it"


def _opt_out(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    return "Had it opted out of preemption", _SPARED if answer.helps else _NOT_SPARED


_NOW, _NOT_NOW = "it starts now", "it does not start now"


def _less(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    kind, asked = str(answer.facts["kind"]), _number(answer, "asked")
    if not answer.helps:
        least, below = _number(answer, "least"), amounts.below(kind, asked, kinds=style.kinds)
        if least == 0:
            return f"Even with {amounts.one(kind, 0, kinds=style.kinds)} and all else as it is", _NOT_NOW
        tried = f" (tried down to {amounts.one(kind, least, kinds=style.kinds)})" if least > 1 else ""
        return f"With {below}{tried} and all else as it is", _NOT_NOW
    value = amounts.one(kind, _number(answer, "value"), kinds=style.kinds)
    return f"With {value} instead of {amounts.bare(kind, asked, kinds=style.kinds)}", _NOW


def _scaled(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    if not answer.helps:
        return f"With less of everything (tried down to {answer.facts['step']} %)", _NOT_NOW
    values = {k.removeprefix("value."): int(v) for k, v in answer.facts.items() if k.startswith("value.")}
    listed = amounts.listed(values, kinds=style.kinds)
    return f"With {answer.facts['percent']} % of everything, rounded down ({listed})", _NOW


def _fewer(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    if not answer.helps:
        return f"On fewer than {answer.facts['asked']} nodes", _NOT_NOW
    value = answer.facts["value"]
    return f"On {value} node{'' if value == 1 else 's'} instead of {answer.facts['asked']}", _NOW


def _switch(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    return "With preemption on in this group", _result(answer)


def _rank(name: str) -> Callable[[answers.Counterfactual, Style], tuple[str, str]]:
    def write(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
        own = answer.facts["own"]
        if not answer.helps:
            return f"With any {name} from {own} to {answer.facts['most']}", _result(answer)
        return f"With {name} {answer.facts['value']} instead of {own}", _result(answer)

    return write


def _at_cap(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    value, own = answer.facts["value"], answer.facts["own"]
    return f"With priority {value}, the highest that it may have, instead of {own}", _result(answer)


def _result(answer: answers.Counterfactual) -> str:
    """Say what a round would do for a waiting session."""
    outcome = answer.facts.get("outcome", _O.WAITS.value)
    if outcome == _O.STOPS.value:
        count = int(answer.facts.get("victims", 1))
        return f"room is made for it by stopping {count} session{'' if count == 1 else 's'}"
    return _RESULTS[str(outcome)]


_RESULTS = {
    _O.STARTS.value: _NOW,
    _O.KEPT.value: "room that is becoming free is kept for it",
    _O.WAITS.value: "it waits all the same",
}


def _eligible(answer: answers.Counterfactual, style: Style) -> tuple[str, str]:
    at = style.clock(-(-int(answer.facts["at"]) // _SECOND) * _SECOND)  # moments are written in whole seconds
    first = "the first session that the minimum runtime protects may be stopped"
    return f"From {at} on", f"{first}: {_at_that_time(answer)}"


def _at_that_time(answer: answers.Counterfactual) -> str:
    if answer.facts.get("outcome", _O.WAITS.value) == _O.WAITS.value:
        return "that alone is not enough"
    return f"if nothing else changes, {_result(answer)} then"


Writer = Callable[[answers.Counterfactual, Style], tuple[str, str]]
_WRITERS: Mapping[answers.Kind, Writer] = {
    _K.SPARED_JOB_PRIORITY: _spared_rank("job priority"),
    _K.SPARED_PRIORITY: _spared_rank("priority"),
    _K.SPARED_LATER_START: _later,
    _K.SPARED_OPT_OUT: _opt_out,
    _K.STARTS_WITH_LESS: _less,
    _K.STARTS_SCALED: _scaled,
    _K.STARTS_ON_FEWER_NODES: _fewer,
    _K.PREEMPTION_ON: _switch,
    _K.HIGHER_PRIORITY: _rank("priority"),
    _K.PRIORITY_AT_CAP: _at_cap,
    _K.HIGHER_JOB_PRIORITY: _rank("job priority"),
    _K.FIRST_ELIGIBLE: _eligible,
}
