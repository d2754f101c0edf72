"""Every address has a name: the access table (`tests/xceweb/test_access.py`) holds a row for each of them."""

from collections.abc import Iterator

from django import urls


def test_every_address_has_a_name():
    nameless = [str(pattern.pattern) for pattern in _patterns(urls.get_resolver()) if not pattern.name]

    assert nameless == []


def test_no_two_addresses_share_a_name():
    names = [f"{pattern.lookup_str}:{pattern.name}" for pattern in _patterns(urls.get_resolver())]

    assert len(names) == len(set(names))


def _patterns(resolver: urls.URLResolver) -> Iterator[urls.URLPattern]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, urls.URLResolver):
            yield from _patterns(pattern)
        else:
            yield pattern
