"""Facts of the machine, and the choice of processors."""

import os
import pathlib

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


@pytest.mark.parametrize(("user", "are_limited"), [(0, False), (1000, True)])
def test_a_host_without_delegation_says_what_it_cannot_enforce(monkeypatch, user, are_limited):
    monkeypatch.setattr(os, "geteuid", lambda: user)

    assert host.enforce(cgroup_root=None, multi_user=False) == {
        "affinity": True,
        "cgroup_v2": False,
        "freezer": False,
        "processes": are_limited,
        "multi_user": False,
        "self_fence": True,
    }


def test_a_root_that_changes_to_accounts_has_their_processes_limited(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    said = host.enforce(cgroup_root=None, multi_user=True)

    assert (said["multi_user"], said["processes"]) == (True, True)


def refuse(path, text):
    raise OSError(16, "Device or resource busy")


@pytest.mark.parametrize(("controllers", "are_shares"), [("cpu memory pids", True), ("cpu pids", False)])
def test_shares_are_enforced_only_where_the_kernel_passes_the_controllers_on(
    tmp_path, monkeypatch, controllers, are_shares
):
    (tmp_path / "cgroup.subtree_control").write_text(controllers)
    monkeypatch.setattr(pathlib.Path, "write_text", refuse)
    said = host.enforce(cgroup_root=tmp_path, multi_user=False)

    assert (said["cgroup_v2"], said["freezer"], said["processes"]) == (are_shares, True, True)


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
