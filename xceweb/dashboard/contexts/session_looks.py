"""How the viewer wants the list of sessions: which columns, and how dense. It is kept in the address."""

from __future__ import annotations

import dataclasses
from typing import Any

from django import http

COMPACT = "compact"
#: Column -> its head. Names of sessions are always shown.
COLUMNS = {
    "state": "State",
    "owner": "Owner",
    "queue": "Queue",
    "group": "Group",
    "priority": "Priority",
    "rank": "Rank among their own",
    "type": "Type",
    "asks": "Asks for",
    "node": "Node",
    "preempted": "Times preempted",
    "since": "In this state",
    "submitted": "Submitted",
    "started": "Started",
    "ended": "Ended",
}
DEFAULT = ("state", "owner", "queue", "group", "priority", "asks", "node", "since", "submitted")


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """Columns in the order of the table, and whether rows are low."""

    columns: tuple[str, ...] = DEFAULT
    is_compact: bool = False

    def query(self) -> dict[str, Any]:
        """Return the parameters of an address; what is as usual is left out."""
        return {
            "col": [] if self.columns == DEFAULT else list(self.columns),
            "rows": COMPACT if self.is_compact else "",
        }


def of(query: http.QueryDict) -> Look:
    """Return the look that an address asks for; what it does not know it leaves out."""
    asked = set(query.getlist("col"))
    columns = tuple(name for name in COLUMNS if name in asked)
    return Look(columns or DEFAULT, query.get("rows") == COMPACT)


def load(look: Look) -> dict[str, Any]:
    """Return the ``look`` of ``dashboard/session_list.html``."""
    return {
        "shows": {name: name in look.columns for name in COLUMNS},
        "is_compact": look.is_compact,
        "columns": [
            {"name": name, "label": label, "is_shown": name in look.columns}
            for name, label in COLUMNS.items()
        ],
        "query": look.query(),
    }
