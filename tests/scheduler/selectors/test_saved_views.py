"""Whose saved views are seen by whom."""

from __future__ import annotations

import pytest

from scheduler import errors
from scheduler.selectors import saved_views as own
from scheduler.services import saved_views
from tests import model_factories

pytestmark = pytest.mark.django_db


def test_nobody_sees_anybody_elses_not_even_an_administrator():
    person, administrator = model_factories.a_user(), model_factories.an_administrator()
    row = saved_views.keep(person, name="mine", query="user:me")

    assert (own.require(person, row.public_id), list(own.of(administrator))) == (row, [])
    with pytest.raises(errors.NotVisible):
        own.require(administrator, row.public_id)
