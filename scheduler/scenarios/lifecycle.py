"""
Play a ``lifecycle`` case: its steps on a simulated cluster, its expectations on what happened.

A case with ``for_each_mode`` is played once for each mode, in a database of its own each time.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable

from django.core import exceptions
from django.db import DatabaseError

from scheduler import errors as service_errors
from scheduler.core import entities
from scheduler.scenarios import (
    answers,
    cast,
    entries,
    errors,
    expectations,
    fields,
    findings,
    located,
    reading,
    stages,
    steps,
)
from scheduler.selectors import consistency
from scheduler.simulator import world

Verdict = answers.Verdict
_OF_PICTURES = ("reservations", "edges", "claims")
#: Opens a database for one play.
Database = Callable[[], contextlib.AbstractContextManager[object]]
_BRINGING = ("running", "submit", "taken_by_other")
#: What the services and the database answer to values that they do not take.
_REFUSALS = (service_errors.XceError, exceptions.ValidationError, DatabaseError, OverflowError)


def play(case: entries.Case, database: Database) -> answers.Result:
    """
    Play a case, once or once for each mode.

    Raises:
        BadScenario: a step or an expectation is not well formed.
        NotExpressible: the case asks for what this version does not have.
    """
    script = _script(case)
    plays = []
    for mode in script.modes:
        config = case.config
        if mode:
            config = dataclasses.replace(config, rules={**config.rules, "preemption_mode": mode})
        with database():
            try:
                plays.append(_play_once(case, config, script))
            except _REFUSALS as error:
                text = " ".join(str(error).split())
                raise errors.BadScenario(f"line {case.line}: the cluster refused the case: {text}") from None
    return _together(case, script.modes, plays)


@dataclasses.dataclass(frozen=True)
class _Script:
    """The steps to play, in order, and the modes to play them in."""

    steps: tuple[tuple[int, fields.Fields], ...]  #: with their numbers in the case, counted from 1
    modes: tuple[str, ...]
    kinds: frozenset[str]


def _script(case: entries.Case) -> _Script:
    if not case.steps:
        raise errors.BadScenario(f"line {case.line}: a case of kind lifecycle needs steps")
    beyond = [f"{key} are of pictures, and this is a story" for key in _OF_PICTURES if getattr(case, key)]
    modes: tuple[str, ...] = ("",)
    found = []
    for number, step in enumerate(_flat(case.steps, beyond), 1):
        if step.text("do") == "for_each_mode":
            modes = _modes(step)
        else:
            found.append((number, step))
        if len(found) > stages.MOST_STEPS:
            raise errors.BadScenario(f"line {case.line}: more than {stages.MOST_STEPS} steps")
    kinds = _check([step for _, step in found], beyond)
    if not case.nodes:
        beyond.append("it names no nodes, so there is no cluster to play on")
    if beyond:
        raise errors.NotExpressible("; ".join(dict.fromkeys(beyond)))
    kinds |= cast.kinds_of(case, (*case.running, *case.pending))
    return _Script(tuple(found), modes, frozenset(kinds))


def _modes(step: fields.Fields) -> tuple[str, ...]:
    modes = dict.fromkeys(step.words("modes") or ())
    known = [str(mode) for mode in entities.PreemptionMode]
    if not modes or set(modes) - set(known):
        raise step.fault("modes", f"must be of {', '.join(known)}")
    return tuple(modes)


def _flat(tables: Iterable[located.Table], beyond: list[str]) -> Iterable[fields.Fields]:
    """Yield each step; a loop yields the steps of its body as often as it says."""
    for table in tables:
        step = fields.Fields(table, "a step", line=table.line, beyond=beyond)
        verb = step.text("do")
        step.what = f"step {verb}"
        if verb == "loop":
            body = step.take("body", located.Items())
            if not isinstance(body, list) or not all(isinstance(each, located.Table) for each in body):
                beyond.append(f"line {table.line}: the body of the loop is prose, no steps")
                continue
            for _ in range(step.count("times", 1, most=stages.MOST_TIMES)):
                yield from _flat(body, beyond)
        else:
            yield step


def _check(found: list[fields.Fields], beyond: list[str]) -> set[str]:
    """Look at steps before any is played: unknown ones, and the kinds of those that bring sessions."""
    brought: list[entries.SessionEntry] = []
    for step in found:
        verb = step.text("do")
        if verb not in steps.STEPS:
            beyond.append(f"line {step.line}: step {verb!r} is not one that this version knows")
        elif verb in _BRINGING:
            new = reading.session(step, is_running=verb != "submit")
            step.what = f"step {verb}"
            brought += new
            empty = [one.id for one in new if not one.request and not one.alloc]
            beyond += [
                f"line {step.line}: session {name} has neither a request nor an alloc" for name in empty
            ]
    return cast.kinds_of(entries.Case("", entries.Kind.LIFECYCLE, 0), brought)


def _play_once(case: entries.Case, config: entries.Config, script: _Script) -> _Play:
    with world.World(config.rules).running() as cluster:
        who = cast.Cast(case, cluster)
        who.set_up(config, set(script.kinds))
        stage = stages.Stage(who)
        steps.bring(stage)
        for number, step in script.steps:
            _step(stage, step, number)
        judged = [] if case.expect is None else expectations.judge(case.expect, who.history)
        is_judged = any(finding.holds is not None for finding in judged)
        judged += [findings.Finding("ledgers", False, text) for text in consistency.findings()]
        pending = {name: who.history.answer(name) for name in who.history.submitted}
        return _Play(judged, pending, who.history.remarks, is_judged)


@dataclasses.dataclass(frozen=True)
class _Play:
    findings: list[findings.Finding]
    pending: dict[str, answers.Answer]
    remarks: list[str]
    is_judged: bool  #: something that the case expects was compared


def _step(stage: stages.Stage, step: fields.Fields, number: int) -> None:
    verb = step.text("do")
    step.take("note")
    try:
        steps.STEPS[verb](stage, step)
    except service_errors.XceError as error:
        step.close()
        raise errors.BadScenario(f"line {step.line}: step {verb} was refused: {error}") from None
    step.close()
    if step.beyond:
        raise errors.NotExpressible("; ".join(step.beyond))
    stage.fleet.act()
    stage.history.look(number, is_tick=verb.startswith("tick"))


def _together(case: entries.Case, modes: tuple[str, ...], plays: list[_Play]) -> answers.Result:
    failed = [text for play, mode in zip(plays, modes, strict=True) for text in _texts(play, mode, False)]
    unknown = [text for play, mode in zip(plays, modes, strict=True) for text in _texts(play, mode, None)]
    pending = plays[-1].pending
    if failed:
        failed += [remark for play in plays for remark in play.remarks]
        return answers.Result(case.id, Verdict.FAILED, "; ".join(dict.fromkeys(failed)), pending)
    if unknown:
        return answers.Result(case.id, Verdict.SKIPPED, "; ".join(dict.fromkeys(unknown)), pending)
    if len({str(play.pending) for play in plays}) > 1 and "same_in_every_mode" in (case.expect or {}):
        return answers.Result(case.id, Verdict.FAILED, "the modes come to different ends", pending)
    if not all(play.is_judged for play in plays):
        why = "it expects nothing" if case.expect is None else "it expects nothing that can be compared"
        return answers.Result(case.id, Verdict.SKIPPED, why, pending)
    sentences = sorted({f.what for play in plays for f in play.findings if f.is_sentence})
    why = f"not compared: {', '.join(sentences)}" if sentences else ""
    return answers.Result(case.id, Verdict.PASSED, why, pending)


def _texts(play: _Play, mode: str, verdict: bool | None) -> list[str]:
    prefix = f"mode {mode}: " if mode else ""
    found = [f for f in play.findings if f.holds is verdict and not f.is_sentence]
    return [f"{prefix}{finding.what}: {finding.text}" for finding in found]
