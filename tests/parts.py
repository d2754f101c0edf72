"""
The parts of the test suite and their budgets, in one place.

Every test file belongs to exactly one part: the one with the innermost directory that it lies in
(`tests/architecture/test_parts.py` sees to it).
"""

import dataclasses
import pathlib

TESTS = pathlib.Path(__file__).resolve().parent
#: Of the machine that the budgets are written for, and the most that a run makes use of.
CORES = 2


@dataclasses.dataclass(frozen=True)
class Part:
    """One part: what it selects and what it may cost."""

    name: str
    #: Directories below `tests/`; what belongs to another part inside them is left out.
    directories: tuple[str, ...]
    #: Seconds of two quiet cores after which the part fails: about twice what it takes there.
    #: `tests.pace` says what a second of theirs is here.
    budget_s: int
    #: Worker processes; 0 = none, for tests that start a whole stack.
    processes: int = CORES
    needs_browser: bool = False


PARTS = (
    Part(
        "core",
        ("architecture", "scheduler/core", "scheduler/protocol", "history", "simulation", "bench"),
        170,
    ),
    Part("mutation", ("mutation",), 30, processes=0),
    Part("processes", ("scheduler/agent", "conformance", "xceweb/stack", "bin"), 200, processes=3),
    Part("database", ("scheduler",), 330),
    Part("web", ("xceweb",), 190),
    Part("crash", ("faults",), 90, processes=0),
    Part("stream", ("stream",), 100, processes=0),
    Part("system", ("system",), 200),
    Part("browser", ("browser",), 280, processes=0, needs_browser=True),
)


def named(name: str) -> Part:
    """
    Return one part.

    Raises:
        KeyError: there is no part of that name; the message lists those there are.
    """
    for part in PARTS:
        if part.name == name:
            return part
    raise KeyError(f"no part {name!r}; parts are {', '.join(part.name for part in PARTS)}")


def selection(part: Part) -> list[str]:
    """
    Return pytest's arguments that select a part.

    Returns:
        Paths relative to the project, then options; an empty list when none of its directories exists.
    """
    paths = [f"tests/{directory}" for directory in part.directories if (TESTS / directory).is_dir()]
    if not paths:
        return []
    ignored = [f"--ignore=tests/{directory}" for directory in _taken_by_others(part)]
    return [*paths, *ignored]


def _taken_by_others(part: Part) -> list[str]:
    """Directories of other parts that lie inside this part's own."""
    return [
        directory
        for other in PARTS
        if other is not part
        for directory in other.directories
        if any(directory.startswith(f"{own}/") for own in part.directories)
    ]
