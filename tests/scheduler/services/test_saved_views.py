"""Queries that are kept by name."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.services import saved_views
from tests import model_factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return model_factories.a_user()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"query": ""}, "query"),
        ({"query": "x" * 501}, "query"),
        ({"query": "colour:red"}, "query"),
        ({"query": '"open'}, "query"),
        ({"name": "taken"}, "name"),
    ],
)
def test_what_cannot_be_kept_is_told_at_its_field_and_nothing_is_written(person, fields, field):
    saved_views.keep(person, name="taken", query="state:pending")

    with pytest.raises(errors.Refusal) as caught:
        saved_views.keep(person, **{"name": "n", "query": "q", **fields})

    assert (list(caught.value.fields), models.SavedView.objects.count()) == ([field], 1)


def test_two_people_may_use_one_name(person):
    rows = [saved_views.keep(who, name="mine", query="user:me") for who in (person, model_factories.a_user())]

    assert len({row.user_id for row in rows}) == 2


def test_a_view_is_changed_in_part_and_keeps_its_place_among_the_names(person):
    row = saved_views.keep(person, name="one", query="a")
    saved_views.keep(person, name="two", query="b")

    saved_views.change(row, query="state:running")
    with pytest.raises(errors.Refusal, match="you keep a view 'two' already"):
        saved_views.change(row, name="two")

    row.refresh_from_db()
    assert (row.name, row.query) == ("one", "state:running")


def test_one_person_keeps_so_many_and_no_more(person, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST_OF_ONE", 1)
    row = saved_views.keep(person, name="one", query="a")
    with pytest.raises(errors.Refusal, match="remove one first"):
        saved_views.keep(person, name="two", query="b")

    saved_views.remove(row)

    assert saved_views.keep(person, name="two", query="b").name == "two"
