"""The runner of the parts: what fails a run, what the closing line counts."""

import itertools
import os

import pytest

from tests import browsers, pace, parts, run

PART = parts.PARTS[0]


def result(*, fault: str = "", passed: int = 3, failed: int = 0) -> run.Result:
    return run.Result(PART, 180, 1.0, 1.5, passed, failed, 1, fault)


def test_a_run_without_faults_passes_and_closes_with_the_counts(capsys):
    assert run._report([result(), result(passed=4)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "7 passed, 0 failed, 2 skipped"


@pytest.mark.parametrize("fault", ["failed", "over its budget", "no tests"])
def test_any_fault_fails_the_run_and_the_closing_line(fault, capsys):
    assert run._report([result(), result(fault=fault)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "6 passed, 1 failed, 2 skipped"


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_missing_browser_fails_the_run_in_ci_alone(ci, code, monkeypatch):
    monkeypatch.setenv("CI", ci)

    assert run._report([result(), result(fault=browsers.HOW_TO_GET, passed=0)]) == code


@pytest.mark.parametrize(
    ("code", "took_s", "fault"),
    [
        (0, 179, ""),
        (0, 181, "over its budget"),
        (1, 10, "failed"),
        (run.NO_TESTS, 1, "no tests"),
        (-1, 600, "failed"),
    ],
)
def test_a_part_fails_by_its_tests_by_its_budget_and_when_it_has_none(code, took_s, fault):
    assert run._fault(code, took_s, 180) == fault


def test_a_budget_counts_in_seconds_of_the_machine_it_was_written_for(monkeypatch, tmp_path):
    paces = [1.0, 2.0]
    monkeypatch.setattr(run.pace, "slowness", lambda: paces.pop(0))
    monkeypatch.setattr(run, "_call", lambda *_, **__: 0)
    monkeypatch.setattr(run.time, "monotonic", itertools.count(0, 1.5 * PART.budget_s).__next__)

    found = run._run_part(PART, {"XCE_NIGHT": "", "XCE_CHROMIUM": ""}, tmp_path)

    assert (found.took_s, found.slowness, found.fault) == (1.5 * PART.budget_s, 2.0, "")


def test_the_pace_of_a_machine_is_measured():
    assert 1 <= pace.slowness() < 100


def test_counts_come_from_the_report(tmp_path):
    report = tmp_path / "x.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>')

    assert run._counts(report) == (3, 3, 3)
    assert run._counts(tmp_path / "missing.xml") == (0, 0, 0)


def test_a_part_that_hangs_is_ended():
    assert run._call(["sleep", "60"], {**os.environ}, limit_s=0.2) == -1


def test_the_browser_that_is_named_is_taken(monkeypatch, tmp_path):
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    monkeypatch.setenv("XCE_CHROMIUM", str(program))
    assert browsers.find() == str(program)
    monkeypatch.setenv("XCE_CHROMIUM", str(tmp_path / "missing"))
    assert browsers.find() is None


def test_an_unknown_part_is_refused_with_the_names_there_are():
    with pytest.raises(KeyError, match="parts are core, "):
        parts.named("moon")
