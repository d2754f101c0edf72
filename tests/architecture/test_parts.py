"""Every test belongs to exactly one part of the run."""

import pathlib

from tests import parts
from tests.architecture import sources

TEST_FILES = sorted((sources.PROJECT / "tests").rglob("test_*.py"))


def test_every_test_file_belongs_to_exactly_one_part():
    owners = {sources.name(path): _owners(path) for path in TEST_FILES}

    assert {name: found for name, found in owners.items() if len(found) != 1} == {}


def test_the_budgets_leave_time_for_installing_and_checking():
    assert sum(part.budget_s for part in parts.PARTS) <= 30 * 60


def _owners(path: pathlib.Path) -> list[str]:
    return [part.name for part in parts.PARTS if _selects(part, path)]


def _selects(part: parts.Part, path: pathlib.Path) -> bool:
    arguments = parts.selection(part)
    ignored = [each.removeprefix("--ignore=") for each in arguments if each.startswith("--ignore=")]
    taken = [each for each in arguments if not each.startswith("--")]
    inside = [path.is_relative_to(sources.PROJECT / each) for each in taken]
    outside = [path.is_relative_to(sources.PROJECT / each) for each in ignored]
    return any(inside) and not any(outside)
