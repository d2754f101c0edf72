"""Lists of decisions, victims and rounds by API."""

from __future__ import annotations

from tests import decision_factories


def test_decisions_are_narrowed_and_name_only_whom_one_may_know(api_of, world):
    api = api_of("viewer")
    (row,) = api.get("/decisions", group="gpu", axis="owner", outcome="open").json()["results"]

    assert (row["preemptor"], row["victims"], row["node"]) == (None, 1, "gpu-1")
    assert api.get("/decisions", outcome="used").json()["results"] == []
    assert api.get("/decisions", outcome="nonsense").json()["fields"].keys() == {"outcome"}
    assert api.get("/decisions", axis="nonsense").status_code == 400
    (own,) = api_of("owner").get("/decisions").json()["results"]
    assert own["preemptor"] == str(world.running.public_id)


def test_victims_are_those_of_ones_groups_and_ones_own(api_of, world):
    (own,) = api_of("owner").get("/preemptions", mine="1").json()["results"]

    assert (own["session"], own["preemptor"]) == (str(world.victim.public_id), str(world.running.public_id))
    assert api_of("viewer").get("/preemptions", mine="1").json()["results"] == []
    assert api_of("outsider").get("/preemptions").json()["results"] == []


def test_rounds_are_those_of_the_group(api_of, world):
    decision_factories.a_round(world.group, snapshot=b"x")

    rows = api_of("viewer").get("/resource-groups/gpu/rounds").json()["results"]

    assert [row["has_snapshot"] for row in rows] == [True, False]
    assert api_of("outsider").get("/resource-groups/gpu/rounds").status_code == 404
