"""Rows at the sight of the reader."""

from __future__ import annotations

from scheduler.selectors import policies
from xceweb.api.v1 import session_shapes, shown

_FOR_SUMMARY = {
    "id",
    "is_mine",
    "group",
    "queue",
    "state",
    "state_since",
    "result",
    "slots",
    "node_count",
    "submitted_at",
    "url",
}


def test_of_a_summary_only_state_size_queue_and_times_are_told(world):
    found = shown.session(world.people["viewer"], world.waiting)

    assert {name for name, value in found.items() if value is not None} == _FOR_SUMMARY
    assert set(found) == set(session_shapes.SessionInside().fields)


def test_an_operator_reads_all_but_the_environment(world):
    found = shown.session(world.people["operator"], world.waiting)

    assert (found["name"], found["owner"], found["warning_signal"]) == ("late-work", "olivia", 15)
    assert (found["argv"], found["script"], found["environment"]) == (["/bin/secret-program"], "", None)


def test_the_rules_are_told_by_short_names_and_the_switch_as_one_word(world):
    found = shown.rules(policies.current(world.group))

    assert (found["enabled"], found["state"], found["mode"]) == (True, "on", "suspend")
    assert not any(name.startswith("preemption_") for name in found)
