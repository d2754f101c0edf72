"""Stored snapshots: packed, remembered, and put together from differences."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler import models
from scheduler.core import differences, entities, resources, snapshot, states
from scheduler.selectors import stored_rounds
from tests import decision_factories, model_factories

pytestmark = pytest.mark.django_db
FIRST = {"now": 1, "sessions": [{"id": 1, "a": 1}, {"id": 2, "a": 1}]}
SECOND = {"now": 2, "sessions": [{"id": 2, "a": 5}, {"id": 3, "a": 1}]}


def test_packing_is_undone_exactly():
    assert stored_rounds.unpacked(stored_rounds.packed(FIRST)) == FIRST


def test_a_difference_is_put_together_with_its_base():
    group = model_factories.a_group()
    base = decision_factories.a_round(group, snapshot=stored_rounds.packed(FIRST))
    kept = stored_rounds.packed(differences.between(FIRST, SECOND))
    row = decision_factories.a_round(group, snapshot=kept, base=base)

    assert stored_rounds.plain_of(row) == SECOND
    assert stored_rounds.plain_of(base) == FIRST


@pytest.mark.parametrize("gone", ["row", "base"])
def test_what_is_gone_or_builds_on_what_is_gone_has_no_snapshot(gone):
    group = model_factories.a_group()
    base = decision_factories.a_round(group, snapshot=None if gone == "base" else b"x")
    row = decision_factories.a_round(group, snapshot=None if gone == "row" else b"x", base=base)

    with pytest.raises(ValueError, match="is not kept any more"):
        stored_rounds.plain_of(row)


def test_few_whole_snapshots_are_remembered():
    group = model_factories.a_group()
    for number in range(5):
        row = decision_factories.a_round(group, snapshot=stored_rounds.packed({"now": number}))
        assert stored_rounds.plain_of(row) == {"now": number}

    assert len(stored_rounds._whole) <= stored_rounds._REMEMBERED
    models.Round.objects.filter(pk=row.pk).delete()
    assert stored_rounds.plain_of(row) == {"now": 4}


def test_what_is_remembered_of_sessions_says_the_same_and_follows_their_changes():
    said, view = stored_rounds.Said(), _a_view()
    for _ in range(2):
        plain = said.canonical(view)
        assert plain == snapshot.canonical(view)
        assert said.text(plain) == stored_rounds.text(snapshot.canonical(view))
        changed = dataclasses.replace(view.sessions[1], priority=77, labels={"ü": frozenset({'a"', "b"})})
        view = dataclasses.replace(view, now=view.now + 1, sessions=(*view.sessions[2:], changed))

    assert said.canonical(view) == snapshot.canonical(view)


def _a_view():
    sessions = tuple(
        entities.Session(
            pk, 1, 1, states.SessionState.PENDING, resources.ResourceVector({"cpu": pk}), submitted_at=pk
        )
        for pk in (3, 1, 2, 5)
    )
    return snapshot.Snapshot("g", 10, entities.Policy(1), True, (), (), (), sessions)
