"""Command lines of the demo programs: the interpreter that runs here, and the program's own path."""

from __future__ import annotations

import pathlib
import sys

_PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
NAMES = ("primes", "pi", "sorting", "training")


def compute(program: str, *, steps: int, seed: int) -> list[str]:
    """
    Return the command line of a program that computes.

    Args:
        program: one of NAMES.
        steps: how many, one a second.
        seed: of its random numbers.
    """
    return [*_python(program), "--steps", str(steps), "--seed", str(seed)]


def occupy(life_ms: int) -> list[str]:
    """Return the command line of a program that holds its slots for so many milliseconds and does nothing."""
    return [*_python("occupy"), "--ms", str(life_ms)]


def _python(program: str) -> list[str]:
    return [sys.executable, "-B", str(_PROGRAMS / f"{program}.py")]
