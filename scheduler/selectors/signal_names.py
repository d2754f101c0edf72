"""Signals as people know them: by name."""

from __future__ import annotations

import signal


def of(number: int) -> str:
    """Return the name of a signal (1..64): ``SIGTSTP``; ``signal 40`` for one without a name here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
