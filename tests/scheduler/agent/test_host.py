"""Facts of the machine, and the choice of processors."""

import os

import pytest

from scheduler.agent import host


@pytest.fixture
def eight(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))


def test_facts_fit_a_hello():
    facts = host.facts("n1")

    assert facts["node"] == "n1"
    assert facts["processors"] == len(os.sched_getaffinity(0))
    assert all(type(value) in (str, int) for value in facts.values())


def test_a_host_without_delegation_says_what_it_cannot_enforce():
    assert host.enforce(freezer=False) == {
        "affinity": True, "cgroup_v2": False, "freezer": False, "multi_user": False
    }  # fmt: skip


@pytest.mark.parametrize("milli", [0, 500, 1500, 8000, 64_000])
def test_fractions_and_whole_machines_are_not_bound(eight, milli):
    assert host.choose_cpus(milli, taken=[], node="n1") == ()


def test_the_least_taken_processors_are_chosen(eight):
    first = host.choose_cpus(3000, taken=[], node="n1")
    second = host.choose_cpus(3000, taken=[first], node="n1")
    third = host.choose_cpus(2000, taken=[first, second], node="n1")

    assert [len(first), len(second), len(third)] == [3, 3, 2]
    assert len({*first, *second, *third}) == 8


def test_agents_that_share_a_machine_begin_at_different_processors(eight):
    assert len({host.choose_cpus(1000, taken=[], node=f"n{n}") for n in range(20)}) > 1
