"""From when and for how long, as the form reads it."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from scheduler.services import planned_changes
from xceweb.console import when_form

_NOON = datetime.datetime(2030, 1, 2, 12, 0, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("sent", "at", "for_s"),
    [
        ({}, None, None),
        ({"when": "now", "for_amount": "3", "at": "2030-01-02T12:00"}, None, None),
        ({"when": "for", "for_amount": "2", "for_unit": "hours"}, None, 7200),
        ({"when": "for", "for_amount": "90", "for_unit": "minutes", "at": "2030-01-02T12:00"}, None, 5400),
        ({"when": "at", "at": "2030-01-02T12:00"}, _NOON, None),
        ({"when": "at", "at": "2030-01-02T12:00", "for_amount": "1", "for_unit": "days"}, _NOON, 86_400),
        ({"when": "at", "at": "2030-01-02T13:00", "at_utc": "2030-01-02T12:00:00.000Z"}, _NOON, None),
    ],
)
def test_what_is_chosen_counts_and_nothing_else(
    sent: dict[str, str], at: datetime.datetime | None, for_s: int | None
) -> None:
    """A field of another choice may still hold what was typed before."""
    form = when_form.WhenForm(sent)

    assert form.is_valid(), form.errors
    assert form.value() == planned_changes.When(at, for_s)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"when": "at"}, "at"),
        ({"when": "at", "at": "tomorrow"}, "at"),
        ({"when": "for"}, "for_amount"),
        ({"when": "for", "for_amount": "0"}, "for_amount"),
        ({"when": "never"}, "when"),
    ],
)
def test_what_is_missing_or_wrong_is_said_at_its_field(sent: dict[str, Any], field: str) -> None:
    """Once."""
    form = when_form.WhenForm(sent)

    assert not form.is_valid()
    assert [(name, len(texts)) for name, texts in form.errors.items()] == [(field, 1)]
    assert form.choice() in ("now", "at", "for")
