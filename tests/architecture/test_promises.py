"""Every promise has a test with its number, or stands on the list of those not yet kept, with its issue."""

import pathlib
import re

from tests.architecture import sources

PROMISES = [f"P{number:02d}" for number in range(1, 20)]
NOT_YET = pathlib.Path(__file__).with_name("promises_not_yet.txt")
LINE = re.compile(r"^(P\d\d) issue (\d+): \S.+$")


def test_every_promise_has_a_test_or_stands_on_the_list():
    missing = set(PROMISES) - _tested() - _listed().keys()

    assert missing == set()


def test_no_promise_with_a_test_stands_on_the_list_still():
    assert set(_listed()) & _tested() == set()


def test_every_line_of_the_list_names_a_promise_an_issue_and_what_lacks():
    bad = [line for line in _lines() if not LINE.match(line)]

    assert bad == []
    assert set(_listed()) <= set(PROMISES)


def _lines() -> list[str]:
    return [line for line in NOT_YET.read_text().splitlines() if line and not line.startswith("#")]


def _listed() -> dict[str, str]:
    return {match[1]: match[2] for line in _lines() if (match := LINE.match(line))}


def _tested() -> set[str]:
    """Promises named by tests of behaviour; tests of the code's form prove none."""
    paths = [path for path in sources.modules("tests") if path.parent.name != "architecture"]
    names = [function.name for path in paths for function in sources.functions(path)]
    tests = [name for name in names if name.startswith("test_")]
    return {
        number.upper()
        for name in tests
        for number in re.findall(r"(?<![a-zA-Z0-9])[Pp]\d\d(?!\d)", _spaced(name))
    }


def _spaced(name: str) -> str:
    return name.replace("_", " ")
