"""`scenario FILE`: run the scenarios of a file and compare them with what they expect."""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler.scenarios import answers, entries, errors, lifecycle, playing, reading, written
from scheduler.simulator import throwaway

_CANNOT_READ = 2


class Command(BaseCommand):
    """Run the scenarios of a file: decisions of the core, and whole stories on a simulated cluster."""

    requires_system_checks: list[str] = []
    help = (
        "Run the scenarios of a file (docs/scenarios.md) and compare them with what they expect. "
        "Stories run in a database of their own, made for the purpose and dropped. Exits 1 on a difference."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("file", metavar="FILE", type=pathlib.Path, nargs="?", help="a file of cases")
        parser.add_argument(
            "--from-decision",
            metavar="ID",
            help="write a stored decision, or why the session of this id waits, as a case, names replaced: to FILE, "
            "or to standard output",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
        parser.add_argument(
            "--case", metavar="ID", action="append", help="run this case alone; may be repeated"
        )

    def handle(self, *args: object, **options: Any) -> None:
        """Run the cases, print their results, and say by the exit code whether all are as expected."""
        if options["from_decision"]:
            self._write(options["from_decision"], options["file"])
        elif options["file"] is None:
            raise CommandError(
                "name a file of cases, or a decision with --from-decision", returncode=_CANNOT_READ
            )
        else:
            self._run(options)

    def _write(self, public_id: str, path: pathlib.Path | None) -> None:
        try:
            made = written.write(public_id)
            if path is None:
                self.stdout.write(made.text, ending="")
            else:
                with path.open("x", encoding="utf-8") as file:
                    file.write(made.text)
        except (written.CannotWrite, OSError) as error:
            raise CommandError(str(error), returncode=_CANNOT_READ) from None
        if made.result.verdict is not answers.Verdict.PASSED:
            text = "written, but this version of the core decides it otherwise"
            raise CommandError(f"{text}: {made.result.why}", returncode=1)

    def _run(self, options: dict[str, Any]) -> None:
        try:
            chosen = _chosen(reading.read(options["file"]), options["case"], options["file"])
            results = [self._shown(result, options["json"]) for result in _results(chosen)]
        except (errors.BadScenario, throwaway.CannotMake) as error:
            raise CommandError(str(error), returncode=_CANNOT_READ) from None
        counts = {verdict: sum(r.verdict is verdict for r in results) for verdict in answers.Verdict}
        text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        if options["json"]:
            self.stdout.write(json.dumps({"cases": [result.plain() for result in results]}, indent=1))
        else:
            self.stdout.write(f"\n{text}")
        if counts[answers.Verdict.FAILED]:
            raise CommandError(text, returncode=1)

    def _shown(self, result: answers.Result, is_json: bool) -> answers.Result:
        if not is_json:
            self.stdout.write(f"{result.id}  {result.verdict}{f': {result.why}' if result.why else ''}")
            for name, answer in result.pending.items():
                self.stdout.write(f"    {name}: {_line(answer)}")
        return result


def _chosen(cases: list[entries.Case], ids: list[str] | None, path: pathlib.Path) -> list[entries.Case]:
    known = {case.id: case for case in cases}
    if unknown := sorted(set(ids or ()) - set(known)):
        raise errors.BadScenario(
            f"{path} has no case {', '.join(unknown)}; it has: {', '.join(known) or 'none'}"
        )
    return [known[case_id] for case_id in dict.fromkeys(ids)] if ids else cases


def _results(cases: list[entries.Case]) -> Iterator[answers.Result]:
    with contextlib.closing(throwaway.Maker()) as maker:
        for case in cases:
            yield playing.run(case, lambda case: lifecycle.play(case, maker.database))


def _line(answer: answers.Answer) -> str:
    words = [str(answer.outcome)]
    if answer.victims:
        words.append(f"stops {', '.join(answer.victims)}")
    if answer.target:
        words.append(f"on {answer.target}")
    if answer.rule:
        words.append(f"by {answer.rule}")
    if answer.reason:
        words.append(f"({answer.reason})")
    return " ".join(words)
