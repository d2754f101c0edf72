"""
Runs the tests: `bin/test`.

Without arguments all parts, each against its budget at the pace of this machine, with a table at the end; with
pytest's arguments just those tests. Database and broker are embedded ones of the run's own, gone with it.
"""

import argparse
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from collections.abc import Sequence

from tests import browsers, night, pace, parts
from xceweb.stack import embedded, errors, privileges

NO_TESTS = 5
#: A part that hangs is ended when it has used this many budgets.
HOPELESS = 3
NIGHT_BUDGET_S = 2400


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of one part."""

    part: parts.Part
    #: On the machine of the budgets, and how many times slower this one was meanwhile.
    budget_s: int
    slowness: float
    took_s: float
    passed: int
    failed: int
    skipped: int
    #: Empty when all is well.
    fault: str


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; returns the exit code."""
    options, pytest_arguments = _parser().parse_known_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="xce-test-", ignore_cleanup_errors=True) as scratch:
        os.chmod(scratch, 0o755)
        with embedded.running(pathlib.Path(scratch, "data"), throwaway=True) as backing:
            env = _environment(backing, night=bool(options.night))
            if pytest_arguments:
                return subprocess.call(_pytest(*pytest_arguments), env=env, cwd=privileges.PROJECT)
            results = [_run_part(part, env, pathlib.Path(scratch)) for part in _wanted(options)]
    return _report(results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bin/test",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    names = [part.name for part in parts.PARTS]
    parser.add_argument("--part", choices=names, action="append", help="run this part alone; may be repeated")
    parser.add_argument(
        "--night",
        choices=names,
        help="run one part with the counts of the night, and write its line into docs/reliability.md",
    )
    return parser


def _wanted(options: argparse.Namespace) -> list[parts.Part]:
    names = [options.night] if options.night else options.part or [part.name for part in parts.PARTS]
    return [parts.named(name) for name in names]


def _environment(backing: dict[str, str], *, night: bool) -> dict[str, str]:
    env = {**os.environ, **backing, "DJANGO_SETTINGS_MODULE": "xceweb.settings.test"}
    env |= {"PYTHONPATH": str(privileges.PROJECT), "XCE_NIGHT": "1" if night else ""}
    return {**env, "XCE_CHROMIUM": browsers.find() or ""}


def _pytest(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "pytest", *arguments]


def _run_part(part: parts.Part, env: dict[str, str], scratch: pathlib.Path) -> Result:
    budget_s = NIGHT_BUDGET_S if env["XCE_NIGHT"] else part.budget_s
    print(f"\n== {part.name} (budget {budget_s} s)", flush=True)
    if part.needs_browser and not env["XCE_CHROMIUM"]:
        return Result(part, budget_s, 1, 0, 0, 0, 0, browsers.HOW_TO_GET)
    report = scratch / f"{part.name}.xml"
    before = pace.slowness()
    begun_s = time.monotonic()
    code = _call(
        _part_command(part, report, night=bool(env["XCE_NIGHT"])), env, limit_s=budget_s * before * HOPELESS
    )
    took_s = time.monotonic() - begun_s
    slowness = max(before, pace.slowness())
    if env["XCE_NIGHT"] and report.exists():
        night.write(night.of_report(part.name, report, seconds=took_s))
    fault = _fault(code, took_s, budget_s * slowness)
    return Result(part, budget_s, slowness, took_s, *_counts(report), fault)


def _part_command(part: parts.Part, report: pathlib.Path, *, night: bool) -> list[str]:
    spread = [f"--numprocesses={part.processes}", "--dist=loadfile"] if part.processes else []
    chosen = [] if night else ["-m", "not night"]
    return _pytest("-q", *spread, f"--junitxml={report}", *chosen, *parts.selection(part))


def _call(argv: list[str], env: dict[str, str], *, limit_s: float) -> int:
    try:
        return subprocess.run(argv, env=env, cwd=privileges.PROJECT, timeout=limit_s, check=False).returncode
    except subprocess.TimeoutExpired:
        return -1


def _fault(code: int, took_s: float, budget_s: float) -> str:
    if code == NO_TESTS:
        return "no tests"
    if code:
        return "failed"
    return "over its budget" if took_s > budget_s else ""


def _counts(report: pathlib.Path) -> tuple[int, int, int]:
    """Return passed, failed, skipped as the report says; zeros without a report."""
    if not report.exists():
        return 0, 0, 0
    passed = failed = skipped = 0
    for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        left_out = int(suite.get("skipped", 0))
        failed, skipped = failed + bad, skipped + left_out
        passed += int(suite.get("tests", 0)) - bad - left_out
    return passed, failed, skipped


def _report(results: Sequence[Result]) -> int:
    print(
        f"\n{'part':<12} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'budget':>7} {'slowness':>9}"
    )
    for result in results:
        numbers = f"{result.passed:>7} {result.failed:>7} {result.skipped:>8} {result.took_s:>8.1f}"
        print(
            f"{result.part.name:<12} {numbers} {result.budget_s:>7} {result.slowness:>9.2f}  {result.fault}"
        )
    faults = [result for result in results if _counts_as_fault(result)]
    passed = sum(result.passed for result in results)
    failed = sum(result.failed for result in results) or len(faults)
    print(
        f"\n{passed} passed, {failed} failed, {sum(result.skipped for result in results)} skipped", flush=True
    )
    return 1 if faults else 0


def _counts_as_fault(result: Result) -> bool:
    """Say whether a part fails the run: a missing browser does so in CI alone."""
    if result.fault == browsers.HOW_TO_GET:
        return bool(os.environ.get("CI"))
    return bool(result.fault)


if __name__ == "__main__":
    errors.run(lambda: main(sys.argv[1:]))
