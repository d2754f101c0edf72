"""Signals by name."""

from __future__ import annotations

import pytest

from scheduler.selectors import signal_names


@pytest.mark.parametrize(
    ("number", "name"), [(9, "SIGKILL"), (15, "SIGTERM"), (20, "SIGTSTP"), (40, "signal 40")]
)
def test_a_signal_has_its_name(number: int, name: str) -> None:
    """One of the real-time signals has none."""
    assert signal_names.of(number) == name
