"""Errors of the pure core. They stand alone: the edges translate them into the Django side's errors."""


class CoreError(Exception):
    """The core was given something that it cannot work with."""


class BadAmount(CoreError):
    """An amount of a slot kind cannot be read; the message says which and what would be right."""


class BadSnapshot(CoreError):
    """A snapshot contradicts itself; the message names the rows."""
