"""Roles in words."""

from __future__ import annotations

import pytest

from scheduler.selectors import roles
from xceweb.console.contexts import roles as context


def _one(name, *sources, role=roles.Role.MANAGER):
    return roles.Person(name, False, role, sources, roles.may(role))


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ((), "Nobody may flip the switch of this group: give somebody the role of a manager."),
        ((_one("ann", "own"),), "One person may flip the switch and set the rules: **ann**."),
        (
            (_one("ann", "own"), _one("bo", "own"), _one("cy", "own", role=roles.Role.OPERATOR)),
            "2 people may flip the switch and set the rules: **ann**, **bo**.",
        ),
    ],
)
def test_who_may_switch_is_one_sentence(people, expected):
    assert context.sentence(roles.Listing(people, True)) == expected


def test_why_somebody_has_a_role_is_said_of_every_source():
    assert context.why(_one("ann", "own", "team night")) == (
        "was made manager here and belongs to the team night, which is manager here"
    )
    assert context.person(_one("ann", "administrator"))["role"] == "administrator"


def test_every_right_has_its_words():
    assert set(context.RIGHTS) == set(roles.may(roles.Role.MANAGER))
