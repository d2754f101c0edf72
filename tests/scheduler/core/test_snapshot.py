"""The snapshot's canonical form and digest."""

from __future__ import annotations

import dataclasses
import json

from scheduler.core import entities, snapshot
from tests import factories, strategies


def test_p13_the_order_of_the_rows_does_not_change_the_digest():
    view = strategies.random_snapshot(7)
    turned = dataclasses.replace(view, sessions=view.sessions[::-1], nodes=view.nodes[::-1])

    assert snapshot.digest(view) == snapshot.digest(turned)


def test_any_changed_fact_changes_the_digest():
    view = factories.a_snapshot([factories.a_session(1)])
    later = dataclasses.replace(view, now=view.now + 1)
    edged = dataclasses.replace(view, edges=(entities.Edge(1, 2),))

    assert len({snapshot.digest(one) for one in (view, later, edged)}) == 3


def test_a_decision_has_a_plain_form():
    view = factories.a_snapshot(
        [factories.a_running(1, factories.slots(cpu=4), job_priority=1), factories.a_session(2)]
    )

    stop, pend = (json.loads(json.dumps(snapshot.to_plain(one))) for one in factories.decide(view))

    assert [victim["session_id"] for victim in stop["victims"]] == [1]
    assert pend["reason"] == "awaiting-victims"


def test_sets_become_sorted_lists():
    assert snapshot.to_plain(frozenset({"b", "a"})) == ["a", "b"]
    assert snapshot.to_plain({"x": (1, 2)}) == {"x": [1, 2]}
