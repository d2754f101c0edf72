"""From an installed package to a decision: the example, and hostile ones beside queues that are decided as usual."""

from __future__ import annotations

import dataclasses

import pytest

from scheduler.core import decisions
from scheduler.core.preemption import shipped
from scheduler.plugins import asking, catalog
from tests import factories, plugin_packages
from tests.factories import slots

R = decisions.PendReason


def _view(name):
    """Return a node full of two sessions of a preemptible queue, and a preemptor in each of two queues."""
    queues = (
        factories.a_queue(1, name="urgent", preemptible_queues=frozenset({2}), preempt_policy=name),
        factories.a_queue(2, preemptible=True),
        factories.a_queue(3, name="usual", preemptible_queues=frozenset({2})),
    )
    running = [
        factories.a_running(i, slots(cpu=2), owner_id=2, queue_id=2, priority=i, on=(1,)) for i in (1, 2)
    ]
    running[0] = dataclasses.replace(running[0], started_at=running[0].started_at - 1_000_000)
    waiting = [
        factories.a_session(9, slots(cpu=2), queue_id=1, priority=60),
        factories.a_session(10, slots(cpu=2), queue_id=3, priority=50),
    ]
    return factories.a_snapshot([*running, *waiting], nodes=[factories.a_node(1)], queues=queues)


def _decide(view, workers):
    found = factories.decide(view, policies=asking.policies_for(view, workers))
    return factories.preemptions(found), factories.by_session(found)


def test_the_example_package_is_built_installed_found_and_asked(tmp_path, monkeypatch, workers):
    monkeypatch.syspath_prepend(str(plugin_packages.install_example(tmp_path)))

    stops, _ = _decide(_view("newest_first"), workers)

    assert catalog.choices() == ["lowest_priority_first", "newest_first"]
    assert (stops[9].victim_jobids, stops[9].policy_name, stops[9].is_fewest_proved) == (
        (2,),
        "newest_first",
        True,
    )
    assert stops[10].victim_jobids == (1,)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return 1, [99]", "chose a session that may not be stopped"),
        ("return 99, [1]", "chose a node that was not offered"),
        ("return 1, [1, 1]", "one twice"),
        ("return 1, [1, 2]", "chose a victim that is not needed"),
        ("raise KeyError('x')", "failed: KeyError"),
        ("while True: pass", "did not answer within 0.5 s"),
        ("os._exit(1)", "ended instead of answering"),
        ("return 1, [True]", "gave no answer of the form"),
    ],
)
def test_p11_a_bad_policy_lets_its_session_wait_and_the_others_are_decided(body, text, a_policy, workers):
    a_policy(body)
    view = _view("odd")

    for _ in range(2):
        stops, pends = _decide(view, workers)

        assert set(stops) == {10}
        assert pends[9].reason is R.POLICY_FAILED
        assert pends[9].facts["policy"].startswith("the preemption policy odd ")
        assert text in pends[9].facts["policy"]


def test_p11_a_policy_that_vanished_is_never_replaced_silently(workers):
    stops, pends = _decide(_view("gone"), workers)

    assert set(stops) == {10}
    assert pends[9].facts["policy"] == "queue urgent names the preemption policy gone, which is not installed"


def test_a_name_that_is_offered_twice_stops_nobody(on_path, workers):
    for package in ("first", "second"):
        plugin_packages.install(on_path, package, {"odd": "choose"})

    stops, pends = _decide(_view("odd"), workers)

    assert set(stops) == {10}
    assert "is offered more than once, by first 1.0 and second 1.0" in pends[9].facts["policy"]


def test_queues_without_a_foreign_policy_cost_no_look_at_packages(monkeypatch):
    monkeypatch.setattr(catalog.importlib.metadata, "entry_points", lambda **group: pytest.fail("looked"))

    assert asking.policies_for(_view("lowest_priority_first")) is shipped.FOR_QUEUES
