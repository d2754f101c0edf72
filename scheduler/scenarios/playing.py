"""Run cases: each by its kind, each to one result."""

from __future__ import annotations

from collections.abc import Callable

from scheduler.scenarios import answers, entries, errors, judging, select

Verdict = answers.Verdict
Play = Callable[[entries.Case], answers.Result]
_NOT_RUN = {
    entries.Kind.CONFIG: "kind config: it is prose about pages and upgrades, no picture and no steps",
    entries.Kind.EXPLAIN: "kind explain: it is prose about records and pages, no picture and no steps",
    entries.Kind.SIGNAL: "kind signal: it is about real processes; a simulated agent has none, and there are no steps",
}


def run(case: entries.Case, lifecycle: Play) -> answers.Result:
    """
    Run one case.

    Args:
        lifecycle: plays cases of that kind; it needs a database.
    """
    if case.fault:
        return answers.Result(case.id, Verdict.FAILED, case.fault)
    if case.kind in _NOT_RUN and not case.steps:
        return answers.Result(case.id, Verdict.SKIPPED, _NOT_RUN[case.kind])
    if case.beyond:
        return answers.Result(case.id, Verdict.SKIPPED, "; ".join(case.beyond))
    try:
        return lifecycle(case) if case.is_played else _select(case)
    except errors.BadScenario as error:
        return answers.Result(case.id, Verdict.FAILED, str(error))
    except errors.NotExpressible as error:
        return answers.Result(case.id, Verdict.SKIPPED, str(error))
    except Exception as error:  # noqa: BLE001 - a file of anybody's: one case must not end the others
        why = f"line {case.line}: it broke the run, which is a fault of ours: {type(error).__name__}: {error}"
        return answers.Result(case.id, Verdict.FAILED, why)


def _select(case: entries.Case) -> answers.Result:
    if case.steps:
        raise errors.NotExpressible(
            "it has steps, which a case of kind select has not: kind lifecycle plays them"
        )
    if not case.nodes or not case.pending:
        missing = "nodes" if not case.nodes else "pending sessions"
        raise errors.BadScenario(f"line {case.line}: a case of kind select needs {missing}")
    return judging.judge(case, select.run(case))
