"""Which policy chooses the victims for a queue."""

from __future__ import annotations

import pytest

from scheduler.selectors import victim_policies
from tests import model_factories, plugin_packages


@pytest.fixture
def group(db, tmp_path, monkeypatch):
    """A group whose queues name a policy each: an installed one, one that is gone, and none."""
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin_packages.install(tmp_path, "cheap", {"cheapest": "choose"})
    group = model_factories.a_group("gpu")
    for slug, policy in (("one", "cheapest"), ("two", "vanished"), ("three", "")):
        model_factories.a_queue(slug, groups=[group], preempt_policy=policy)
    model_factories.a_queue("elsewhere", groups=[model_factories.a_group()])
    return group


def test_each_queue_says_who_chooses_for_it_and_what_is_gone_stays(group):
    viewer = model_factories.a_user(role="viewer", group=group)

    found = {one.queue: one for one in victim_policies.of_group(viewer, group)}

    assert sorted(found) == ["one", "three", "two"]
    assert (found["one"].package, found["one"].description) == ("cheap 1.0", plugin_packages.SUMMARY)
    assert (found["two"].policy, found["two"].fault) == ("vanished", "is not installed")
    assert (found["three"].policy, found["three"].fault) == ("lowest_priority_first", "")
    assert found["three"].description.startswith("The fewest sessions")


def test_who_does_not_see_a_queue_is_not_told_of_it(group):
    assert victim_policies.of_group(model_factories.a_user(), group) == []
