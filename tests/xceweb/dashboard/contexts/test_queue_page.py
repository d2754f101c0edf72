"""One queue in words, as far as somebody sees it."""

from __future__ import annotations

from tests import model_factories, worlds
from xceweb.dashboard.contexts import queue_page, words


def _rules(world: worlds.World, person: str, name: str = "urgent") -> dict[str, str]:
    return dict(queue_page.load(world.people[person], world.queues[name])["rules"])


def test_the_rules_are_said_with_their_limits(world):
    queue = world.queues["urgent"]
    queue.default_priority, queue.max_slots, queue.max_concurrent_sessions = 30, {"cuda.device": 8}, 4
    queue.save()

    rules = _rules(world, "viewer")

    assert rules["Priority"] == "30, at most 100"
    assert (rules["Slots at the same time"], rules["Sessions at the same time"]) == ("8 GPUs", "4")
    assert rules["Chooses victims by"].startswith("lowest_priority_first. The fewest sessions")
    assert rules["Its sessions as victims"] == "are never stopped for other queues"
    assert _rules(world, "viewer", "background")["Its sessions as victims"].endswith("as the group says")


def test_who_may_submit_is_told_by_name_to_administrators_alone(world):
    assert _rules(world, "viewer")["May submit"] == "every submitter of its groups"

    world.queues["urgent"].submit_users.set([world.people["owner"]])

    assert _rules(world, "administrator")["May submit"] == "olivia"
    assert _rules(world, "viewer")["May submit"] == "only some people"


def test_both_directions_are_told_with_what_has_no_effect(world):
    world.queues["normal"].preemptible_queues.set([world.queues["urgent"], world.queues["background"]])

    shown = queue_page.load(world.people["viewer"], world.queues["urgent"])

    assert shown["relations"] == [
        {"label": "It may stop sessions of", "names": ["background"], "idle": ""},
        {"label": "Its sessions may be stopped by", "names": [], "idle": "normal"},
    ]
    assert (shown["form"], shown["actions"], shown["cautions"]) == (None, [], [])


def test_a_cycle_is_told_on_the_pages_of_its_queues_alone(world):
    urgent, background = world.queues["urgent"], world.queues["background"]
    background.preemptible_queues.set([urgent])
    urgent.preemptible = True
    urgent.save()
    viewer = world.people["viewer"]

    assert [len(queue_page.load(viewer, one)["cautions"]) for one in (urgent, background)] == [1, 1]
    assert queue_page.load(viewer, world.queues["normal"])["cautions"] == []


def test_the_first_of_the_line_are_named_to_those_who_may_read_them(world):
    fields = {"owner": world.people["submitter"], "queue": world.queues["normal"], "group": world.group}
    for number in range(queue_page.FIRST):
        model_factories.a_session(name=f"more-{number}", priority=50, **fields)

    mine = queue_page.load(world.people["submitter"], world.queues["normal"])
    others = queue_page.load(world.people["viewer"], world.queues["normal"])

    assert [one["label"] for one in mine["line"]] == [f"more-{number}" for number in range(queue_page.FIRST)]
    assert {(one["label"], one["url"], one["priority"]) for one in others["line"]} == {
        ("Another session", "", words.NOTHING)
    }
    assert mine["more"] == 1
