"""Dry run, time line and output of a session by API."""

from __future__ import annotations

from django.utils import timezone

from scheduler import models

SUBMIT = {"name": "n", "group": "gpu", "queue": "normal", "argv": ["true"], "slots": {"cpu": 1}}


def test_a_dry_run_says_what_would_happen_and_leaves_nothing(api_of):
    before = models.Session.objects.count()
    api = api_of("owner", scope="read")

    answer = api.post("/sessions/dry-run", SUBMIT).json()
    never = api.post("/sessions/dry-run", {**SUBMIT, "slots": {"cuda.device": 99}}).json()

    assert (answer["outcome"], answer["nodes"], answer["sentence"]) == (
        "starts",
        ["gpu-1"],
        "It would start now on gpu-1.",
    )
    assert (never["outcome"], never["reason"]) == ("never", "never-fits")
    assert models.Session.objects.count() == before


def test_the_time_line_is_the_events_that_one_may_see(api_of, world):
    path = f"/sessions/{world.waiting.public_id}/timeline"

    assert [step["type"] for step in api_of("owner").get(path).json()] == ["session.submitted"]
    assert "late-work" not in api_of("viewer").get(path).content.decode()


def test_output_is_the_last_lines_or_a_page_for_which_the_node_is_asked(api_of, world):
    models.SessionOutput.objects.create(
        session=world.running, attempt=1, tail="lines\n", size=9000, updated_at=timezone.now()
    )
    api, path = api_of("owner"), f"/sessions/{world.running.public_id}/output"

    last, page = api.get(path).json(), api.get(path, offset=0).json()
    beyond = api.get(path, offset=9001)

    assert (last["state"], last["offset"], last["text"], last["size"]) == (
        "last-lines",
        8994,
        "lines\n",
        9000,
    )
    assert (page["state"], page["next_offset"]) == ("asked", 0)
    assert beyond.json()["fields"] == {"offset": "is beyond the 9000 bytes that are known"}
    assert api.get(path, offset="x").status_code == 400


def test_the_output_of_each_node_is_read_by_its_rank(api_of, world):
    world.running.runs.update(node_names=["n1", "n2"])
    models.RankOutput.objects.create(
        session=world.running, attempt=1, rank=1, tail="of the second", size=13, updated_at=timezone.now()
    )
    api, path = api_of("owner"), f"/sessions/{world.running.public_id}/output"

    assert api.get(path).json()["state"] == "none"
    assert api.get(path, rank=1).json()["text"] == "of the second"
    assert api.get(path, rank=2).json()["fields"] == {"rank": "the newest run has not so many nodes"}
    assert api.get(path, rank="x").status_code == 400
    assert api.get(path, rank=1, offset=0).json()["state"] == "asked"
