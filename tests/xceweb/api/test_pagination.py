"""Pages by cursor."""

from __future__ import annotations

from tests import model_factories


def _names(answer):
    return [row["name"] for row in answer.json()["results"]]


def test_pages_follow_each_other_while_new_rows_come(api_of, world):
    for number in range(5):
        model_factories.a_session(
            owner=world.people["owner"], queue=world.queues["normal"], group=world.group, name=f"s{number}"
        )
    api = api_of("owner")

    first = api.get("/sessions", limit=2, q="name:s", count=1)
    model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["normal"], group=world.group, name="s-late"
    )
    second = api.client.get(first.json()["next"], headers={"Authorization": api.basic})
    back = api.client.get(second.json()["previous"], headers={"Authorization": api.basic})

    assert (_names(first), first.json()["count"], first.json()["previous"]) == (["s4", "s3"], 5, None)
    assert (_names(second), _names(back)) == (["s2", "s1"], ["s4", "s3"])
    assert "count" not in second.json() or second.json()["count"] == 6


def test_a_page_has_at_most_two_hundred_rows(api_of):
    assert api_of("owner").get("/sessions", limit=100_000).status_code == 200
