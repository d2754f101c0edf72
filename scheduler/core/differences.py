"""
The difference between two canonical snapshots, and the later one from the earlier and the difference.

Rows that have an id are compared one by one, everything else as a whole: from one round to the next nearly all rows
stay as they are. Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Plain = Mapping[str, Any]


def between(before: Plain, after: Plain) -> dict[str, Any]:
    """
    Return what turns one canonical snapshot into another.

    Returns:
        ``whole`` (part -> its value, where it changed), ``rows`` (part -> changed or new rows), ``gone`` (part -> ids).
        Parts that did not change are absent.
    """
    whole: dict[str, Any] = {}
    rows: dict[str, Any] = {}
    gone: dict[str, Any] = {}
    for part, value in after.items():
        if part in before and _has_ids(before[part]) and _has_ids(value):
            known = {row["id"]: row for row in before[part]}
            now = {row["id"] for row in value}
            rows[part] = [row for row in value if known.get(row["id"]) != row]
            gone[part] = sorted(known.keys() - now)
        elif part not in before or before[part] != value:
            whole[part] = value
    return {
        "whole": whole,
        "rows": {part: changed for part, changed in rows.items() if changed},
        "gone": {part: ids for part, ids in gone.items() if ids},
    }


def applied(before: Plain, difference: Plain) -> dict[str, Any]:
    """Return the later snapshot; rows with an id are in the order of their ids, as in every canonical form."""
    after = {**before, **difference["whole"]}
    for part in {*difference["rows"], *difference["gone"]}:
        known = {row["id"]: row for row in before[part]}
        known.update({row["id"]: row for row in difference["rows"].get(part, ())})
        for row_id in difference["gone"].get(part, ()):
            del known[row_id]
        after[part] = [known[row_id] for row_id in sorted(known)]
    return after


def _has_ids(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) and "id" in row for row in value)
