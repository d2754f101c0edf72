"""``among`` answers as ``in`` does, with one parameter."""

from __future__ import annotations

import pytest

from scheduler import models
from tests import model_factories


@pytest.fixture
def sessions(db):
    group = model_factories.a_group()
    queue = model_factories.a_queue(groups=[group])
    owner = model_factories.a_user()
    return [model_factories.a_session(owner=owner, queue=queue, group=group) for _ in range(4)]


@pytest.mark.parametrize("places", [(), (0,), (1, 3)])
def test_keys_and_foreign_keys_are_found_as_by_in(sessions, places):
    ids = {sessions[place].pk for place in places} | {-1}
    waits = [
        models.PendReason(session=one, reason="x", since=one.state_since, seen_at=one.state_since)
        for one in sessions
    ]
    models.PendReason.objects.bulk_create(waits)

    assert set(models.Session.objects.filter(pk__among=ids)) == set(models.Session.objects.filter(pk__in=ids))
    rows = models.PendReason.objects
    assert set(rows.filter(session__among=ids)) == set(rows.filter(session__in=ids))
    assert len(rows.filter(session__among=ids)) == len(places)


def test_many_ids_are_one_parameter(db):
    rows = models.Session.objects.filter(pk__among=range(1000))

    assert len(rows.query.sql_with_params()[1]) == 1


def test_a_dictionary_stands_for_its_keys(sessions):
    assert models.Session.objects.filter(pk__among={sessions[0].pk: "x"}).get() == sessions[0]
