"""Every address of the pages has a row in the access table: who gets what status there."""

import ast
from collections.abc import Iterator

from django import urls

from tests.architecture import sources

TABLE = sources.PROJECT / "tests" / "xceweb" / "test_access.py"
#: The module-level mapping in it: URL name -> expected status by role.
TABLE_NAME = "ACCESS"


def test_every_url_name_has_a_row_in_the_access_table():
    missing = set(_url_names(urls.get_resolver().url_patterns)) - _rows()

    assert missing == set()


def test_no_row_of_the_access_table_names_an_address_that_is_gone():
    assert _rows() - set(_url_names(urls.get_resolver().url_patterns)) == set()


def test_every_address_has_a_name():
    nameless = [
        str(pattern.pattern) for pattern in _patterns(urls.get_resolver().url_patterns) if not pattern.name
    ]

    assert nameless == []


def _url_names(patterns: list, prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, urls.URLResolver):
            inner = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
            yield from _url_names(pattern.url_patterns, inner)
        elif pattern.name:
            yield f"{prefix}{pattern.name}"


def _patterns(patterns: list) -> Iterator[urls.URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, urls.URLResolver):
            yield from _patterns(pattern.url_patterns)
        else:
            yield pattern


def _rows() -> set[str]:
    for node in sources.parse(TABLE).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == TABLE_NAME for target in targets):
            return {key.value for key in node.value.keys if isinstance(key, ast.Constant)}
    raise AssertionError(f"{sources.name(TABLE)} has no mapping {TABLE_NAME}")
