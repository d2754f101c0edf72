"""
The table of the nights: each run of `bin/test --night=PART` writes its own line into `docs/reliability.md`.

A test may say what it counted with pytest's `record_property`: `tries`, `faults`, `findings`. One that says nothing is
one try, and a finding when it fails.
"""

import dataclasses
import datetime
import os
import pathlib
import subprocess
import xml.etree.ElementTree
from collections.abc import Iterator

PROJECT = pathlib.Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "reliability.md"
BEGIN, END = "<!-- nights -->", "<!-- /nights -->"
HEAD = (
    "| part | tries | faults | findings | seconds | commit | seed | day |",
    "| --- | ---: | ---: | ---: | ---: | --- | ---: | --- |",
)


@dataclasses.dataclass(frozen=True)
class Night:
    """One run of one part."""

    part: str
    tries: int
    faults: int
    findings: int
    seconds: int
    commit: str
    seed: str
    day: str

    def line(self) -> str:
        """Return its line of the table."""
        return "| " + " | ".join(str(value) for value in dataclasses.astuple(self)) + " |"


def of_report(part: str, report: pathlib.Path, *, seconds: float) -> Night:
    """Return what a report of pytest says of a night that has just ended."""
    counts = {"tries": 0, "faults": 0, "findings": 0}
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        for name, number in _counted(case).items():
            counts[name] += number
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    seed = os.environ.get("XCE_SEED", "1")
    return Night(part, **counts, seconds=round(seconds), commit=_commit(), seed=seed, day=day)


def _counted(case: xml.etree.ElementTree.Element) -> dict[str, int]:
    if case.find("skipped") is not None:
        return {}
    has_failed = case.find("failure") is not None or case.find("error") is not None
    told = dict(_properties(case))
    findings = max(int(has_failed), told.get("findings", 0))
    return {"tries": told.get("tries", 1), "faults": told.get("faults", 0), "findings": findings}


def _properties(case: xml.etree.ElementTree.Element) -> Iterator[tuple[str, int]]:
    for one in case.iter("property"):
        if one.get("name") in ("tries", "faults", "findings"):
            yield str(one.get("name")), int(one.get("value", "0"))


def _commit() -> str:
    command = ["git", "rev-parse", "--short=10", "HEAD"]
    told = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def written(page: str, night: Night) -> str:
    """Return the page with a night's line in the place of an earlier one of the same part, parts by name."""
    before, _, rest = page.partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = [line for line in table.splitlines() if line.startswith("| ") and line not in HEAD]
    kept = [line for line in rows if _part(line) != night.part]
    lines = [*HEAD, *sorted([*kept, night.line()], key=_part)]
    return "\n".join([before + BEGIN, *lines, END + after])


def _part(line: str) -> str:
    return line.split("|")[1].strip()


def write(night: Night) -> None:
    """Write a night's line into the page."""
    PAGE.write_text(written(PAGE.read_text(), night))
