"""Runs across sessions by API."""

from __future__ import annotations

import pytest

from scheduler import models
from tests import model_factories


@pytest.fixture
def runs(world):
    """Beside those of the world: one that is over, and one that has not started, of two owners."""
    over = model_factories.a_session(owner=world.people["submitter"], queue=world.queues["normal"])
    fresh = model_factories.a_session(owner=world.people["owner"], queue=world.queues["normal"])
    model_factories.a_run(over, world.node, how_ended="failure", ended_at=model_factories.ago(1))
    model_factories.a_run(fresh, world.node, node_names=["gpu-7"], started_at=None)
    models.Run.objects.filter(session=world.running).update(started_at=model_factories.ago(9))
    return {"over": over, "fresh": fresh, "running": world.running, "suspended": world.victim}


def _found(answer, runs):
    by_id = {str(row.public_id): name for name, row in runs.items()}
    return {by_id[one["session"]] for one in answer.json()["results"]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"over", "fresh", "running", "suspended"}),
        ({"node": "gpu-7"}, {"fresh"}),
        ({"state": "over"}, {"over"}),
        ({"state": "starting"}, {"fresh"}),
        ({"state": "under-way"}, {"running", "suspended"}),
        ({"end": "failure,lost"}, {"over"}),
        ({"end": "success"}, set()),
        ({"group": "elsewhere"}, set()),
        ({"group": "gpu", "node": "gpu-1", "state": "over"}, {"over"}),
    ],
)
def test_runs_are_narrowed_by_group_node_state_and_end(api_of, runs, query, expected):
    assert _found(api_of("operator").get("/runs", **query), runs) == expected


def test_runs_of_one_session_are_its_attempts(api_of, runs):
    found = api_of("owner").get("/runs", session=str(runs["fresh"].public_id), count=1).json()

    assert (found["count"], found["results"][0]["nodes"], found["results"][0]["attempt"]) == (1, ["gpu-7"], 1)


@pytest.mark.parametrize(
    ("person", "expected"),
    [("owner", 3), ("submitter", 1), ("viewer", 0), ("outsider", 0), ("manager", 4)],
)
def test_only_who_reads_a_session_in_full_finds_its_runs(api_of, runs, person, expected):
    assert api_of(person).get("/runs", count=1).json()["count"] == expected


def test_a_private_session_shows_its_runs_to_managers_and_its_owner_alone(api_of, runs):
    models.Session.objects.filter(pk=runs["over"].pk).update(is_private=True)

    counts = [
        api_of(who).get("/runs", count=1).json()["count"] for who in ("operator", "manager", "submitter")
    ]

    assert counts == [3, 4, 1]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"state": "x"}, "state"),
        ({"session": "x"}, "session"),
        ({"end": "well"}, "end"),
        ({"node": "\0"}, "node"),
    ],
)
def test_what_cannot_be_read_is_refused(api_of, query, field):
    answer = api_of("owner").get("/runs", **query)

    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])
