"""Queues and their line by API."""

from __future__ import annotations

import pytest

from scheduler import models
from tests import model_factories
from tests.xceweb.api import clients
from xceweb.api.v1 import queue_shapes

WHY = {"reason": "a test of queues"}


def test_a_queue_says_what_it_may_do(api_of):
    answer = api_of("viewer").get("/queues/urgent")
    found = answer.json()

    clients.assert_like(queue_shapes.Queue, found)
    assert (found["preemptible_queues"], found["state"], found["groups"]) == (["background"], "open", ["gpu"])
    assert (answer["ETag"], found["version"], found["submit_users"]) == ('"1"', 1, None)
    assert api_of("outsider").get("/queues/urgent").status_code == 404


def test_the_line_is_in_the_order_of_the_round(api_of, world):
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    for name, priority, rank in (("first", 90, 0), ("ranked", 10, 99), ("last", 0, 0)):
        model_factories.a_session(name=name, priority=priority, job_priority=rank, **fields)

    found = api_of("owner").get("/queues/normal/order").json()

    assert [row["name"] for row in found] == ["first", "ranked", "late-work", "low-work", "last"]
    assert [row["position"] for row in found] == [1, 2, 3, 4, 5]
    assert [row["name"] for row in api_of("viewer").get("/queues/normal/order").json()] == [None] * 5


def test_a_change_names_the_cycle_that_it_closes(api_of):
    api = api_of("administrator")
    api.send("PATCH", "/queues/urgent", {"preemptible": True, **WHY}, If_Match='"1"')

    body = {"preemptible_queues": ["urgent"], "submit_users": ["olivia"], **WHY}
    answer = api.send("PATCH", "/queues/background", body, If_Match='"1"')

    found = answer.json()
    clients.assert_like(queue_shapes.Queue, found)
    assert (answer.status_code, answer["ETag"], found["version"]) == (200, '"2"', 2)
    assert (found["cycles"], found["submit_users"]) == ([["background", "urgent"]], ["olivia"])
    assert found["preemptible"] is True
    assert api.get("/queues/normal").json()["cycles"] == []


def test_a_replacement_sends_what_is_left_out_back_to_its_default(api_of):
    api = api_of("administrator")
    read = api.get("/queues/urgent").json()
    same = {name: read[name] for name in queue_shapes.QueueChange().fields if name != "reason"}

    kept = api.send("PUT", "/queues/urgent", {**same, "max_slots": {"cpu": 4000}, **WHY}, If_Match='"1"')
    emptied = api.send("PUT", "/queues/urgent", WHY, If_Match='"2"').json()

    assert kept.json()["preemptible_queues"] == ["background"]
    assert kept.json()["max_slots"] == {"cpu": 4000}
    assert (emptied["preemptible_queues"], emptied["max_slots"]) == ([], {})


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        ({"state": "stopped", **WHY}, {}, 428, "precondition-required"),
        ({"state": "stopped", **WHY}, {"If_Match": '"7"'}, 412, "precondition-failed"),
        ({"state": "stopped"}, {"If_Match": "*"}, 400, "invalid"),
        ({"state": "ajar", **WHY}, {"If_Match": "*"}, 400, "invalid"),
        ({"preemptible_queues": ["nowhere"], **WHY}, {"If_Match": "*"}, 400, "unknown-queue"),
        ({"preempt_policy": "cheapest", **WHY}, {"If_Match": "*"}, 400, "unknown-policy"),
        (WHY, {"If_Match": "*"}, 400, "no-change"),
    ],
)
def test_what_cannot_be_changed_says_why_and_changes_nothing(api_of, body, headers, status, code):
    answer = api_of("administrator").send("PATCH", "/queues/urgent", body, **headers)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert models.Queue.objects.get(slug="urgent").version == 1


def test_a_removed_queue_is_on_no_list_any_more(api_of, world):
    api = api_of("administrator")

    late = api.post("/queues/background/remove", WHY, If_Match='"9"')
    gone = api.post("/queues/background/remove", WHY, If_Match='"1"')

    assert (late.status_code, gone.status_code, gone.json()["slug"]) == (412, 200, "background")
    assert api.get("/queues/background").status_code == 404
    assert api.get("/queues/urgent").json()["preemptible_queues"] == []
    assert api.post("/queues/normal/remove", WHY, If_Match="*").json()["code"] == "in-use"
