"""Groups by API."""

from __future__ import annotations

import pytest


def test_a_group_says_what_is_free_and_who_is_there(api_of):
    found = api_of("viewer").get("/resource-groups/gpu").json()

    assert (found["role"], found["preemption"], found["nodes"]) == ("viewer", "on", 1)
    assert found["sessions"]["pending"] == 1
    assert set(found["queues"]) == {"background", "normal", "urgent"}


def test_groups_of_others_are_not_there(api_of):
    api = api_of("outsider")

    assert [row["slug"] for row in api.get("/resource-groups").json()["results"]] == ["elsewhere"]
    assert api.get("/resource-groups/gpu").status_code == 404


@pytest.mark.parametrize(("person", "status"), [("operator", 403), ("manager", 200), ("outsider", 404)])
def test_who_may_stop_starting(api_of, person, status):
    api = api_of(person)

    answer = api.post("/resource-groups/gpu/stop-starting", {"reason": "the file server is full"})

    assert answer.status_code == status
    if status == 200:
        assert not answer.json()["is_starting"]
        assert api.post("/resource-groups/gpu/start-again", {"reason": "it has room"}).json()["is_starting"]
        nothing = api.post("/resource-groups/gpu/withdraw-all", {"reason": "all was wrong"})
        assert (nothing.status_code, nothing["Content-Type"]) == (400, "application/problem+json")


def test_an_action_needs_a_reason_and_a_name(api_of):
    api = api_of("manager")

    assert api.post("/resource-groups/gpu/stop-starting").status_code == 400
    assert api.post("/resource-groups/gpu/explode", {"reason": "why not"}).status_code == 404


def test_who_may_flip_the_switch_is_told_with_the_reason(api_of):
    found = api_of("viewer").get("/resource-groups/gpu/roles").json()
    whole = api_of("manager").get("/resource-groups/gpu/roles").json()

    told = {one["username"]: (one["role"], one["why"], one["may_switch"]) for one in found["people"]}
    assert told == {
        "administrator": ("manager", ["administrator"], True),
        "manager": ("manager", ["own"], True),
        "viewer": ("viewer", ["own"], False),
    }
    assert (found["is_complete"], whole["is_complete"]) == (False, True)
    assert {"olivia", "operator"} <= {one["username"] for one in whole["people"]}
