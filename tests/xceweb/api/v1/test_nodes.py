"""Nodes by API."""

from __future__ import annotations

import pytest


def test_nodes_are_listed_by_group_and_state(api_of):
    api = api_of("viewer")

    assert [row["name"] for row in api.get("/nodes", group="gpu", state="ready").json()["results"]] == [
        "gpu-1"
    ]
    assert api.get("/nodes", group="elsewhere").json()["results"] == []
    assert api.get("/nodes", group="\0").status_code == 200


@pytest.mark.parametrize(
    ("person", "drains", "loses"),
    [("viewer", 403, 403), ("operator", 200, 403), ("administrator", 200, 200), ("outsider", 404, 404)],
)
def test_who_may_act_on_a_node(api_of, person, drains, loses):
    api = api_of(person)

    drained = api.post("/nodes/gpu-1/drain", {"reason": "new memory"})
    lost = api.post("/nodes/gpu-1/declare-lost", {"reason": "it burnt"})

    assert (drained.status_code, lost.status_code) == (drains, loses)
    if drains == 200:
        assert (drained.json()["state"], drained.json()["state_reason"]) == ("draining", "new memory")
    if loses == 200:
        assert lost.json()["state"] == "down"
        assert api.post("/nodes/gpu-1/make-ready", {"reason": "a new one"}).json()["state"] == "ready"


def test_an_action_needs_a_reason(api_of):
    answer = api_of("operator").post("/nodes/gpu-1/drain")

    assert (answer.status_code, answer.json()["fields"]) == (400, {"reason": "write why"})
