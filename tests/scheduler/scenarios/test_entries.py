"""A case as values: what follows from what it says."""

from __future__ import annotations

import pytest

from scheduler.scenarios import entries, located

KINDS = entries.Kind


def test_a_limit_of_sessions_is_one_of_the_amounts_and_the_config_goes_before_the_queue():
    queue = entries.QueueEntry("low", limits={"cpu": 4000, "mem": 1}, max_sessions=9)
    config = entries.Config({}, {"u1": {"cpu": 2000, "sessions": 3000}}, {"low": {"cpu": 1000}})

    assert config.of_owner("u1") == entries.Limits({"cpu": 2000}, 3)
    assert config.of_owner("u2") == entries.Limits({}, None)
    assert config.of_queue(queue) == entries.Limits({"cpu": 1000, "mem": 1}, 9)
    assert entries.Config({}, {}, {"low": {"sessions": 2000}}).of_queue(queue).sessions == 2


def test_what_an_owner_asked_for_has_the_names_that_core_and_services_share():
    wishes = entries.SessionEntry("p", priority=3, preemptible=False, node_count=2, is_held=True).wishes

    assert wishes == {
        "node_count": 2,
        "priority": 3,
        "job_priority": 10,
        "is_preemptible": False,
        "is_private": False,
        "is_held": True,
    }


@pytest.mark.parametrize(
    ("kind", "more", "is_played"),
    [
        (KINDS.LIFECYCLE, {}, True),
        (KINDS.LIFECYCLE, {"fault": "line 3"}, False),
        (KINDS.LIFECYCLE, {"beyond": ("tags",)}, False),
        (KINDS.SELECT, {"steps": (located.Table(1),)}, False),
        (KINDS.EXPLAIN, {"steps": (located.Table(1),)}, True),
        (KINDS.EXPLAIN, {}, False),
    ],
)
def test_stories_are_played(kind, more, is_played):
    assert entries.Case("A", kind, 1, **more).is_played is is_played
