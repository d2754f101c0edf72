"""A stored snapshot is the snapshot that it was made from."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given, settings

from scheduler.core import snapshot, stored
from tests import factories, strategies
from tests.factories import slots


def _again(view):
    return stored.from_plain(json.loads(json.dumps(snapshot.canonical(view))))


@settings(max_examples=100, deadline=None)
@given(strategies.snapshots())
def test_every_field_comes_back(view):
    again = _again(view)

    assert snapshot.canonical(again) == snapshot.canonical(view)
    assert again == dataclasses.replace(again, sessions=_sorted(view.sessions), nodes=_sorted(view.nodes))
    assert factories.decide(again) == factories.decide(view)


def _sorted(rows):
    return tuple(sorted(rows, key=lambda row: row.id))


def test_keys_that_are_numbers_are_numbers_again():
    view = factories.a_snapshot([factories.a_session(1, backoff={7: 99})])

    assert _again(view).sessions[0].backoff == {7: 99}


def test_a_field_that_an_old_snapshot_lacks_has_its_default_and_an_unknown_one_is_passed_over():
    plain = snapshot.canonical(factories.a_snapshot([factories.a_session(1, slots(cpu=2))]))
    del plain["sessions"][0]["attempt"]
    plain["sessions"][0]["of_a_later_core"] = 3

    session = stored.from_plain(plain).sessions[0]

    assert (session.attempt, session.request) == (1, slots(cpu=2))
