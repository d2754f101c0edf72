"""Columns and density in the address."""

from __future__ import annotations

import pytest
from django import http

from xceweb.dashboard.contexts import session_looks


@pytest.mark.parametrize(
    ("query", "columns", "is_compact"),
    [
        ("", session_looks.DEFAULT, False),
        ("col=unknown&rows=tiny", session_looks.DEFAULT, False),
        ("col=queue&col=state&col=unknown&rows=compact", ("state", "queue"), True),
    ],
)
def test_an_address_asks_for_columns(query: str, columns: tuple[str, ...], is_compact: bool) -> None:
    """In the order of the table, whatever the order of the address."""
    assert session_looks.of(http.QueryDict(query)) == session_looks.Look(columns, is_compact)


def test_what_is_as_usual_stays_out_of_the_address() -> None:
    """The rest is kept by every link of the page."""
    assert session_looks.Look().query() == {"col": [], "rows": ""}
    assert session_looks.Look(("owner",), is_compact=True).query() == {"col": ["owner"], "rows": "compact"}


def test_a_chooser_has_every_column() -> None:
    """With those ticked that are shown."""
    found = session_looks.load(session_looks.Look(("owner", "ended")))

    assert [one["name"] for one in found["columns"] if one["is_shown"]] == ["owner", "ended"]
    assert len(found["columns"]) == len(found["shows"]) == len(session_looks.COLUMNS)
