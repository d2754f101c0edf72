"""ETag and If-Match."""

from __future__ import annotations

import pytest
from django.test import RequestFactory
from rest_framework import request as drf_request

from scheduler import errors
from xceweb.api import matching


def _version(text, current=4):
    headers = {} if text is None else {"If-Match": text}
    return matching.version(drf_request.Request(RequestFactory().get("/", headers=headers)), current)


@pytest.mark.parametrize(("text", "found"), [('"7"', 7), ('W/"7"', 7), (" 7 ", 7), ("*", 4)])
def test_the_version_is_read_back(text, found):
    assert _version(text) == found
    assert matching.etag(7) == '"7"'


@pytest.mark.parametrize("text", ['"seven"', '"-1"', '"1234567890"', '"1", "2"'])
def test_what_was_not_given_out_is_refused(text):
    with pytest.raises(errors.Refusal, match="no ETag that was given out here"):
        _version(text)


@pytest.mark.parametrize("text", [None, "", " "])
def test_a_change_without_it_is_not_made(text):
    with pytest.raises(matching.NoMatch):
        _version(text)
