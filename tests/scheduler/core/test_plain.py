"""Snapshots from their plain form: the same values, whatever the version that stored them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from scheduler.core import plain, snapshot
from tests import factories, strategies


def stored(view: snapshot.Snapshot) -> dict:
    """Return the canonical form as JSON reads it back."""
    return json.loads(json.dumps(snapshot.canonical(view)))


@settings(max_examples=100, deadline=None)
@given(strategies.snapshots())
def test_what_is_read_back_is_the_same_snapshot_and_decides_the_same(view):
    again = plain.to_snapshot(stored(view))

    assert snapshot.digest(again) == snapshot.digest(view)
    assert factories.decide(again) == factories.decide(view)


def test_every_kind_of_field_comes_back_as_its_own_type():
    session = factories.a_running(
        2,
        factories.slots(cuda_device=2),
        indices={"cuda.device": (0, 3)},
        labels={"zone": frozenset({"a", "b"})},
        backoff={1: 17},
    )
    view = factories.a_snapshot([session])

    assert plain.to_snapshot(stored(view)).sessions == (session,)


def test_a_field_that_was_not_there_yet_has_its_default_and_one_that_is_gone_is_left_out():
    form = stored(factories.a_snapshot([factories.a_session(1)]))
    del form["sessions"][0]["backoff"]
    form["sessions"][0]["colour"] = "red"

    (session,) = plain.to_snapshot(form).sessions
    assert session.backoff == {}


@pytest.mark.parametrize(
    ("part", "value"),
    [("now", "noon"), ("nodes", 3), ("policy", {"version": 1, "mode": "explode"}), ("sessions", [{"id": 1}])],
)
def test_another_shape_is_refused(part, value):
    with pytest.raises(plain.NotPlain):
        plain.to_snapshot(stored(factories.a_snapshot()) | {part: value})
