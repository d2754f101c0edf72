"""Who is protected and why, and each owner's share of the risk."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import preview
from scheduler.selectors import exposures, snapshot
from tests import model_factories


@pytest.fixture
def busy(world):
    """A node full of sessions of two owners; one of the owner's waits above them."""
    group = model_factories.a_group("busy", preemption_state="on")
    node = model_factories.a_node("busy-1", group=group, capacity={"cpu": 8000})
    takes = model_factories.a_queue("takes", groups=[group])
    gives = model_factories.a_queue("gives", groups=[group], preemptible=True)
    takes.preemptible_queues.set([gives])
    model_factories.a_role(world.people["operator"], group, "operator")
    owner, other = world.people["owner"], world.people["submitter"]
    running = {"state": "running", "node": node, "slots": {"cpu": 2000}}
    model_factories.a_session(name="low", owner=owner, queue=takes, job_priority=1, **running)
    model_factories.a_session(
        name="out", owner=owner, queue=takes, job_priority=1, is_preemptible=False, **running
    )
    model_factories.a_session(name="theirs", owner=other, queue=gives, priority=50, **running)
    model_factories.a_session(name="secret", owner=other, queue=gives, is_private=True, **running)
    model_factories.a_session(
        name="eager", owner=owner, queue=takes, group=group, job_priority=9, slots={"cpu": 2000}
    )
    return group


def _load(world, group, viewer="operator", **rules):
    loaded = snapshot.load_snapshot(group)
    policy = dataclasses.replace(loaded.snapshot.policy, **rules)
    found = preview.would_preempt(loaded.snapshot, policy)
    return exposures.load(world.people[viewer], loaded.snapshot, policy, found)


def test_each_protected_session_is_told_with_its_nearest_verdict(world, busy):
    found = _load(world, busy)

    told = {one.verdict: (one.count, one.slots, one.example.name) for one in found.protected}
    assert told == {
        "opted-out": (1, {"cpu": 2000}, "out"),
        "other-owner": (1, {"cpu": 2000}, "theirs"),
    }


def test_what_the_viewer_may_not_see_is_in_no_count(world, busy):
    as_operator, as_administrator = _load(world, busy), _load(world, busy, "administrator")

    assert sum(one.count for one in as_administrator.protected) == 1 + sum(
        one.count for one in as_operator.protected
    )
    assert "private-or-system" not in {one.verdict for one in as_operator.protected}


def test_an_owners_sessions_are_stopped_open_or_safe(world, busy):
    owners = {one.owner.username: one for one in _load(world, busy).owners}

    olivia, submitter = owners["olivia"], owners["submitter"]
    assert (olivia.stop, olivia.could, olivia.safe) == (1, 0, 1)
    assert (submitter.stop, submitter.could, submitter.by_others, submitter.safe) == (0, 1, 1, 0)


def test_without_anybody_who_waits_shields_are_told_and_the_rest_is_untouched(world, busy):
    busy.sessions.filter(name="eager").delete()

    found = _load(world, busy)

    assert [(one.verdict, one.count) for one in found.protected] == [("opted-out", 1)]
    assert (found.untouched, found.untouched_slots) == (2, {"cpu": 4000})
