"""What only pictures have: reservations, edges, claims, and moments of sessions."""

from __future__ import annotations

import pytest

from scheduler.core import entities
from scheduler.scenarios import located, picture, reading, standing

TEXT = """
id: A
nodes: [{id: n1, cap: {cpu: 4}}]
running:
- {id: v, state: PREEMPTED, alloc: {n1: {cpu: 4}}, stop_mode: suspend, stop_deadline_s: -1.5}
pending:
- {id: p, request: {cpu: 4}, backoff_s: {n1: 60}, waiting_s_ago: 90, begin_in_s: -5, dependency: waiting}
reservations:
- {for: p, node: n1, slots: {cpu: 4}, drawn: {cpu: 1}, waits_for: [v], deadline_s: 50, binding: true}
edges: [[p, v]]
claims: [{for: p, nodes: [n1]}]
round_number: 7
starting: false
"""
S = picture.SECOND


def test_all_of_it_is_in_the_snapshot():
    (case,) = reading.cases(located.parse(TEXT))
    assert standing.names_of(vars(case)) == ({"p", "v"}, {"n1"})

    view = picture.Picture(case).snapshot()
    stopping, waiting = view.sessions
    (kept,) = view.reservations

    assert (stopping.stop_mode, stopping.stop_deadline - view.now) == ("suspend", -1.5 * S)
    assert (waiting.backoff, waiting.dependency) == ({1: view.now + 60 * S}, "waiting")
    assert (waiting.waiting_since, waiting.begin_at) == (view.now - 90 * S, view.now - 5 * S)
    assert (kept.session_id, kept.victim_ids, kept.deadline - view.now) == (2, (1,), 50 * S)
    assert (kept.drawn.as_dict(), kept.is_binding, kept.is_wait) == ({"cpu": 1000}, True, False)
    assert view.edges == (entities.Edge(2, 1),)
    assert view.claims == (entities.Claim(2, (1,)),)
    assert (view.round_number, view.is_starting) == (7, False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("for: p, node", "for: z, node", "name z: not there"),
        ("nodes: [n1]}", "nodes: [n9]}", "name n9: not there"),
        ("[[p, v]]", "[[p]]", "edges of the case must be a list of pairs"),
        ("-1.5", "soon", "stop_deadline_s of session v must be seconds, not soon"),
        ("50", "0.0000001", "must be seconds"),
        (
            "backoff_s",
            "devices: {n1: {cuda.device: [1, 1]}}, backoff_s",
            "must be a list of different whole numbers",
        ),
        ("backoff_s", "holds_devices: {n8: {}}, backoff_s", "name n8: not there"),
        ("binding", "bindng", "did you mean 'binding'"),
    ],
)
def test_a_fault_is_named(old, new, message):
    (case,) = reading.cases(located.parse(TEXT.replace(old, new)))

    assert message in case.fault
