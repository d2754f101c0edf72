"""Queues and their line by API."""

from __future__ import annotations

from tests import model_factories


def test_a_queue_says_what_it_may_do(api_of):
    found = api_of("viewer").get("/queues/urgent").json()

    assert (found["preemptible_queues"], found["state"], found["groups"]) == (["background"], "open", ["gpu"])
    assert api_of("outsider").get("/queues/urgent").status_code == 404


def test_the_line_is_in_the_order_of_the_round(api_of, world):
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    for name, priority, rank in (("first", 90, 0), ("ranked", 10, 99), ("last", 0, 0)):
        model_factories.a_session(name=name, priority=priority, job_priority=rank, **fields)

    found = api_of("owner").get("/queues/normal/order").json()

    assert [row["name"] for row in found] == ["first", "ranked", "late-work", "low-work", "last"]
    assert [row["position"] for row in found] == [1, 2, 3, 4, 5]
    assert [row["name"] for row in api_of("viewer").get("/queues/normal/order").json()] == [None] * 5
