"""How far a command is: a bar on a terminal, plain lines where the output goes elsewhere."""

from __future__ import annotations

import shutil

from django.core.management.base import OutputWrapper

_WIDTH = 30
_PARTS = 10


class Progress:
    """One line that grows, or one line for each tenth."""

    def __init__(self, out: OutputWrapper, *, total: int) -> None:
        """Begin at nothing of `total`, which is 1 or more."""
        self._out = out
        self._total = total
        self._is_terminal = out.isatty()
        self._last = ""

    def show(self, done: int, text: str) -> None:
        """
        Show how far it is.

        Args:
            done: 0 to total.
            text: a few words behind the numbers.
        """
        numbers = f"{done}/{self._total} {text}"
        if self._is_terminal:
            self._redraw(done, numbers)
        elif (part := f"{done * _PARTS // self._total} {text if done == self._total else ''}") != self._last:
            self._last = part
            self._print(f"{numbers}\n")

    def __enter__(self) -> Progress:
        """Begin."""
        return self

    def __exit__(self, *fault: object) -> None:
        """Leave the bar's line."""
        if self._is_terminal:
            self._print("\n")

    def _redraw(self, done: int, numbers: str) -> None:
        full = done * _WIDTH // self._total
        line = f"[{'#' * full}{'.' * (_WIDTH - full)}] {numbers}"
        columns = shutil.get_terminal_size().columns - 1
        self._print(f"\r{line[:columns]:<{min(columns, 110)}}")

    def _print(self, text: str) -> None:
        self._out.write(text, ending="")
        self._out.flush()
