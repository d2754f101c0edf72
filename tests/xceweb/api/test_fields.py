"""Fields that take exactly what JSON says."""

from __future__ import annotations

import pytest
from rest_framework import serializers

from xceweb.api import fields


@pytest.mark.parametrize("value", ["9", 9.5, 9.0, True, None, [], {}])
def test_a_whole_number_is_one(value):
    with pytest.raises(serializers.ValidationError):
        fields.Whole().run_validation(value)


@pytest.mark.parametrize("value", ["true", 1, 0, None])
def test_a_flag_is_one(value):
    with pytest.raises(serializers.ValidationError):
        fields.Flag().run_validation(value)


@pytest.mark.parametrize("value", [1, True, None, "a\0b"])
def test_text_is_text(value):
    with pytest.raises(serializers.ValidationError):
        fields.Text().run_validation(value)


def test_amounts_are_what_people_write():
    assert fields.Amounts().run_validation({"cpu": 0.5, "mem": "4g", "x": 2}) == {
        "cpu": "0.5",
        "mem": "4g",
        "x": "2",
    }
    for value in ([], {"cpu": True}, {"cpu": None}, {"cpu": [1]}):
        with pytest.raises(serializers.ValidationError):
            fields.Amounts().run_validation(value)
