"""All decisions of a round in short."""

from __future__ import annotations

import dataclasses

from scheduler.core import entities, outlines
from tests import factories


def outline(sessions, **more):
    """Return the outline of one round."""
    return outlines.outline(factories.decide(factories.a_snapshot(sessions, **more)))


FOUR = factories.slots(cpu=4)


def test_each_kind_of_decision_has_its_place():
    low = factories.a_running(1, FOUR, job_priority=1)
    sessions = [low, factories.a_session(2, factories.slots(cpu=2), job_priority=20)]
    sessions += [factories.a_session(3, factories.slots(cpu=2)), factories.a_session(4, is_held=True)]

    assert outline(sessions) == {
        "dispatch": {},
        "preempt": {
            "2": {
                "victims": [1],
                "node": 1,
                "axis": "owner",
                "policy": "owner_job_priority",
                "takes_over": None,
            }
        },
        "shadow": {},
        "wait": {"3": 1},
        "pend": {"awaiting-victims": [2], "awaiting-release": [3], "held": [4]},
    }


def test_a_start_names_its_nodes():
    assert outline([factories.a_session(1, FOUR)])["dispatch"] == {"1": [1]}


def test_what_shadow_would_have_done_stands_apart():
    policy = dataclasses.replace(factories.ON, state=entities.PreemptionState.SHADOW)
    low = factories.a_running(1, FOUR, job_priority=1)
    found = outline([low, factories.a_session(2, FOUR, job_priority=9)], policy=policy)

    assert (list(found["shadow"]), found["preempt"]) == (["2"], {})


def test_an_outline_is_read_session_by_session():
    low = factories.a_running(1, FOUR, job_priority=1)
    sessions = [low, factories.a_session(2, factories.slots(cpu=2), job_priority=20)]
    sessions += [factories.a_session(3, factories.slots(cpu=2)), factories.a_session(4, is_held=True)]

    assert outlines.by_session(outline(sessions)) == {
        2: outlines.Told("stops", (1,), (1,), "owner"),
        3: outlines.Told("waits", (1,), reason="awaiting-release"),
        4: outlines.Told("waits", reason="held"),
    }
    assert outlines.by_session(outline([factories.a_session(1, FOUR)])) == {1: outlines.Told("starts", (1,))}
