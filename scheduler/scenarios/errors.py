"""What can be wrong with a scenario."""

from __future__ import annotations


class BadScenario(Exception):
    """A file or a case that cannot be read; the text names the line, the key or the case."""


class NotExpressible(Exception):
    """A case that is well formed and asks for something that this version does not have; the text is the reason."""
