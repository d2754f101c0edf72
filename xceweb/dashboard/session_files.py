"""
Lists of sessions as files: CSV and JSON, with the columns of the table and what a viewer may see of each row.

Amounts are in the smallest unit of their kind, times in UTC. A cell of a CSV that a spreadsheet would run as a formula
gets an apostrophe in front, as OWASP's "CSV injection" advises.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scheduler.selectors import sessions

COLUMNS = (
    "id",
    "name",
    "owner",
    "group",
    "queue",
    "type",
    "state",
    "result",
    "verdict",
    "priority",
    "job_priority",
    "slots",
    "node_count",
    "nodes",
    "preempted_count",
    "submitted_at",
    "started_at",
    "ended_at",
)
#: With these a spreadsheet takes a text for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
Batches = Iterable[list[sessions.Row]]


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind of file."""

    media_type: str
    parts: Callable[[Batches], Iterator[str]]


def values(row: sessions.Row) -> dict[str, Any]:
    """Return a row as plain values; what may not be seen is empty, a priority None."""
    found = {name: getattr(row, name) for name in COLUMNS}
    times = {name: _time(value) for name, value in found.items() if isinstance(value, datetime.datetime)}
    return {**found, **times, "id": str(row.id), "verdict": row.verdict.replace("**", "")}


def as_csv(batches: Batches) -> Iterator[str]:
    """Yield a CSV with a line of names, a part for each batch."""
    yield _lines([COLUMNS])
    for batch in batches:
        yield _lines([_cell(value) for value in values(row).values()] for row in batch)


def as_json(batches: Batches) -> Iterator[str]:
    """Yield a JSON array of objects, a part for each batch."""
    before = "[\n"
    for batch in filter(None, batches):
        yield before + ",\n".join(json.dumps(values(row)) for row in batch)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


#: End of the name -> how it is made.
KINDS = {"csv": Kind("text/csv; charset=utf-8", as_csv), "json": Kind("application/json", as_json)}


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list):
        value = " ".join(value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _time(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")
