"""Keeps one duty that fails from stopping the others; what fails again and again is told once."""

from __future__ import annotations

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


class Guard:
    """Remembers what each duty failed with last."""

    def __init__(self) -> None:
        self._faults: dict[str, str] = {}

    def run(self, duty: str, act: Callable[[], object]) -> None:
        """Do it; whatever it raises is logged when it is new, and that it works again is, too."""
        try:
            act()
        except Exception as fault:
            text = f"{type(fault).__name__}: {fault}"
            if self._faults.get(duty) != text:
                self._faults[duty] = text
                log.exception("%s failed and is tried again; the agent goes on", duty)
        else:
            if self._faults.pop(duty, None) is not None:
                log.info("%s works again", duty)

    def keep(self, duties: set[str]) -> None:
        """Forget the faults of all other duties: they are done."""
        self._faults = {duty: text for duty, text in self._faults.items() if duty in duties}
