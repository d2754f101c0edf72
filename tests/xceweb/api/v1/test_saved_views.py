"""Saved views by API."""

from __future__ import annotations

from scheduler import models

BODY = {"name": "waiting", "query": "state:pending user:me"}


def test_a_view_is_kept_read_changed_and_removed(api_of):
    api = api_of("owner")

    made = api.post("/saved-views", BODY)
    path = made["Location"].removeprefix("/api/v1")
    changed = api.send("PATCH", path, {"query": "late"}).json()
    found = api.get("/sessions", q=changed["query"]).json()["results"]
    listed = api.get("/saved-views").json()["results"]
    removed = api.send("DELETE", path)

    assert (made.status_code, made.json()["name"], changed["query"]) == (201, "waiting", "late")
    assert [row["name"] for row in found] == ["late-work"]
    assert (listed, removed.json()["id"], api.get(path).status_code) == ([changed], made.json()["id"], 404)


def test_what_cannot_be_read_is_not_kept(api_of):
    answer = api_of("owner").post("/saved-views", {"name": "n", "query": "colour:red"})

    assert (answer.status_code, models.SavedView.objects.count()) == (400, 0)
    assert "knows no field 'colour'" in answer.json()["fields"]["query"]


def test_others_views_are_not_there(api_of):
    path = api_of("owner").post("/saved-views", BODY)["Location"].removeprefix("/api/v1")
    api = api_of("administrator")

    answers = [api.get(path), api.send("PATCH", path, {"name": "x"}), api.send("DELETE", path)]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert (api.get("/saved-views").json()["results"], models.SavedView.objects.get().name) == ([], "waiting")


def test_a_keypair_that_only_reads_keeps_none(api_of):
    assert api_of("owner", scope="read").post("/saved-views", BODY).status_code == 403
