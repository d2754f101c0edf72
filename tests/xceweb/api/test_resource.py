"""What all operations share."""

from __future__ import annotations

import pytest

from scheduler import errors
from xceweb.api import resource


@pytest.mark.parametrize("text", ["", "-1", "1.5", "x", "٣", "1" * 19])
def test_a_number_of_a_query_is_a_whole_one(text):
    with pytest.raises(errors.Refusal) as refused:
        resource.number_of(text, "after")

    assert refused.value.fields == {"after": "must be a whole number of at least 0"}


def test_no_answer_is_kept_by_others(api_of):
    answer = api_of("owner").get("/me")

    assert answer["Cache-Control"] == "no-store"
    assert {"Authorization", "Cookie"} <= set(answer["Vary"].replace(" ", "").split(","))


def test_roles_are_read_once_a_request(api_of, django_assert_max_num_queries):
    api = api_of("viewer")

    with django_assert_max_num_queries(8):
        assert api.get("/sessions").status_code == 200
