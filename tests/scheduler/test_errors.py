"""Typed errors: the docstring is the default text, the family decides the status."""

from __future__ import annotations

import inspect

import pytest

from scheduler import errors

ALL = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.XceError)]


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_the_docstring_is_the_default_text(cls):
    assert str(cls()) == cls.__doc__
    assert str(cls("Do this.")) == "Do this."


def test_a_refusal_says_its_faults_by_field():
    refusal = errors.Refusal(code="invalid", fields={"name": "is missing", "slots": "name one"})

    assert (str(refusal), refusal.code) == ("is missing name one", "invalid")
    assert refusal.fields == {"name": "is missing", "slots": "name one"}


def test_facts_are_kept():
    assert errors.Conflict(current=3).facts == {"current": 3}


@pytest.mark.parametrize(
    ("cls", "status"),
    [
        (errors.Refusal, 400),
        (errors.NotVisible, 404),
        (errors.NotAllowed, 403),
        (errors.Conflict, 409),
        (errors.StaleState, 409),
        (errors.Violation, 500),
        (errors.Environment, 503),
    ],
)
def test_the_family_decides_the_status(cls, status):
    assert cls.status == status


def test_codes_are_kebab_case_and_unlike():
    codes = [cls.code for cls in ALL]

    assert len(set(codes)) == len(codes)
    assert all(code == code.lower() and " " not in code for code in codes)
