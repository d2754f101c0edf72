"""The facets of the list as links."""

from __future__ import annotations

from typing import Any

from scheduler.selectors import session_facets as counts
from scheduler.selectors import sessions
from xceweb.dashboard.contexts import session_facets, session_list

COUNTS = counts.Counts(
    total=5,
    state={"": 5, "alive": 3, "running": 3, "terminated": 2, "ended:failure": 2},
    group={"gpu": 5},
    queue={"low": 1, "high": 4},
    owner={"zoe": 1, "adam": 1, **{f"user-{number}": 2 for number in range(12)}},
    reason={},
    mine=1,
)


def menu(label: str, **chosen: str) -> dict[str, Any]:
    """Return one menu of the list."""
    found = session_facets.load(sessions.Filters(**chosen), COUNTS, session_list.url)
    return next(one for one in found["menus"] if one["label"] == label)


def test_every_state_is_a_link_with_its_count() -> None:
    """Those without any too: they keep their places."""
    found = session_facets.load(sessions.Filters(state="running"), COUNTS, session_list.url)["states"]

    assert [(one["label"], one["count"]) for one in found[:3]] == [("All", 5), ("Alive", 3), ("Pending", 0)]
    assert (found[-1]["label"], found[-1]["count"], found[-1]["url"]) == (
        "Ended",
        2,
        "/sessions/?state=terminated",
    )
    assert [one["label"] for one in found if one["is_current"]] == ["Running"]


def test_a_menu_has_the_most_first_and_says_what_it_leaves_off() -> None:
    """The viewer stands before all others."""
    found = menu("Owner")

    assert [(one["label"], one["count"]) for one in found["links"][:2]] == [("Me", 1), ("user-0", 2)]
    assert (len(found["links"]), found["left_off"], found["word"]) == (12, 3, "user")


def test_a_link_keeps_the_other_filters() -> None:
    """And puts its own value in the place of the one that is set."""
    found = menu("Queue", queue="low", state="alive")

    assert [one["url"] for one in found["links"]] == [
        "/sessions/?state=alive&queue=high",
        "/sessions/?state=alive&queue=low",
    ]
    assert [one["is_current"] for one in found["links"]] == [False, True]
    assert (found["value"], found["clear_url"]) == ("low", "/sessions/?state=alive")


def test_a_menu_without_values_is_left_out_unless_it_is_set() -> None:
    """A filter that nothing passes can be taken back."""
    labels = [
        one["label"] for one in session_facets.load(sessions.Filters(), COUNTS, session_list.url)["menus"]
    ]
    set_to = menu("Waits because", reason="held")

    assert labels == ["Group", "Queue", "Owner", "Ended as"]
    assert (set_to["links"], set_to["value"]) == ([], "Held")


def test_how_sessions_ended_is_a_filter_of_the_state() -> None:
    """One state at a time."""
    found = menu("Ended as", state="ended:failure")

    assert (found["value"], found["links"][0]["url"]) == ("Failure", "/sessions/?state=ended%3Afailure")
    assert menu("Ended as", state="running")["value"] == ""
