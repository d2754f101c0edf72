"""Policies are found by what packages say about themselves."""

from __future__ import annotations

import pytest

from scheduler.plugins import catalog
from tests import plugin_packages


def test_a_package_that_comes_and_goes_is_seen_at_once(on_path):
    plugin_packages.install(on_path, "cheap", {"cheapest": "choose"})
    there = catalog.choices()
    found = catalog.foreign()["cheapest"]
    plugin_packages.uninstall(on_path, "cheap")

    assert there == ["cheapest", "lowest_priority_first"]
    assert (found.target, found.package, found.fault) == ("cheap:choose", "cheap 1.0", "")
    assert catalog.choices() == ["lowest_priority_first"]


def test_each_policy_that_can_be_chosen_says_what_it_does(on_path):
    plugin_packages.install(on_path, "cheap", {"cheapest": "choose"})
    plugin_packages.install(on_path, "odd", {"odd": "module only"})
    (on_path / "odd-1.0.dist-info" / "entry_points.txt").write_text("[xce.preempt_policies]\nodd = module\n")

    found = {one.name: (one.package, one.description) for one in catalog.offers()}

    assert found["cheapest"] == ("cheap 1.0", plugin_packages.SUMMARY)
    assert found["lowest_priority_first"][1].startswith("The fewest sessions")
    assert sorted(found) == ["cheapest", "lowest_priority_first"]


def test_looking_imports_nothing(on_path):
    plugin_packages.install(on_path, "bomb", {"bomb": "choose"}, code="raise SystemExit('imported')")

    assert catalog.refusal("bomb") == ""


def test_p11_a_name_that_two_packages_offer_is_nobodys(on_path):
    for package in ("second", "first"):
        plugin_packages.install(on_path, package, {"cheapest": "choose"})

    assert catalog.faults({"cheapest"}) == {
        "cheapest": "is offered more than once, by first 1.0 and second 1.0"
    }
    assert "cheapest" not in catalog.choices()


@pytest.mark.parametrize(
    "name", ["lowest_priority_first", "owner_job_priority", "x" * 65, "two words", "<b>"]
)
def test_a_name_of_ours_or_one_that_is_none_is_not_taken_from_others(on_path, name):
    plugin_packages.install(on_path, "odd", {name: "choose"})

    assert catalog.foreign() == {}


def test_a_target_that_is_no_function_is_told(on_path):
    plugin_packages.install(on_path, "odd", {"odd": "module only"})
    (on_path / "odd-1.0.dist-info" / "entry_points.txt").write_text("[xce.preempt_policies]\nodd = module\n")

    assert catalog.faults({"odd"}) == {"odd": "names no function as module:function"}
    assert catalog.refusal("odd").startswith("the policy 'odd' names no function")


def test_only_those_that_no_queue_can_use_have_faults(on_path):
    plugin_packages.install(on_path, "good", {"good": "choose"})

    assert catalog.faults({"good", "lowest_priority_first"}) == {}
    assert catalog.faults({"gone", "good"}) == {"gone": "is not installed"}


def test_a_refusal_lists_those_there_are(on_path):
    plugin_packages.install(on_path, "good", {"good": "choose"})

    assert catalog.refusal("gone") == (
        "there is no policy 'gone' for queues; there are: good, lowest_priority_first"
    )
    assert catalog.refusal("lowest_priority_first") == ""
