"""Differences of snapshots: small, and exact on the way back."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given, settings

from scheduler.core import differences, snapshot
from tests import factories, strategies


def form(view: snapshot.Snapshot) -> dict:
    """Return the canonical form as JSON reads it back."""
    return json.loads(json.dumps(snapshot.canonical(view)))


@settings(max_examples=100, deadline=None)
@given(strategies.snapshots(), strategies.snapshots())
def test_the_later_snapshot_is_the_earlier_one_and_the_difference(before, after):
    difference = json.loads(json.dumps(differences.between(form(before), form(after))))

    assert differences.applied(form(before), difference) == form(after)


def test_only_what_changed_is_in_the_difference():
    sessions = [factories.a_session(number) for number in range(1, 6)]
    before = factories.a_snapshot(sessions)
    raised = dataclasses.replace(sessions[1], priority=90)
    after = dataclasses.replace(before, now=before.now + 1, sessions=(*sessions[2:], raised))

    found = differences.between(form(before), form(after))

    assert found["whole"] == {"now": before.now + 1}
    assert [row["id"] for row in found["rows"].pop("sessions")] == [2]
    assert found["rows"] == {}
    assert found["gone"] == {"sessions": [1]}


def test_equal_snapshots_differ_in_nothing():
    view = form(factories.a_snapshot([factories.a_session(1)]))

    assert differences.between(view, view) == {"whole": {}, "rows": {}, "gone": {}}


def test_a_part_that_is_new_or_has_no_ids_is_kept_whole():
    found = differences.between({"edges": [{"winner": 1}]}, {"edges": [], "claims": [{"id": 1}]})

    assert found["whole"] == {"edges": [], "claims": [{"id": 1}]}
