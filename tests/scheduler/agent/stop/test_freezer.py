"""Where the freezer is delegated and which driver a run gets; its acts are in the conformance suite."""

import pathlib

import pytest

from scheduler.agent import processes
from scheduler.agent.stop import driver, freezer, signals


def test_a_run_without_a_control_group_is_stopped_by_signals(tmp_path):
    assert type(freezer.choose_driver("")) is signals.SignalDriver
    assert type(freezer.choose_driver(str(tmp_path / "gone"))) is signals.SignalDriver
    assert type(freezer.choose_driver(str(tmp_path))) is freezer.FreezerDriver


def test_a_delegated_directory_can_be_written():
    root = freezer.delegated_root()
    if root is None:
        pytest.skip("no cgroup v2 directory is delegated to this user")
    group = freezer.make_group(root, "test-of-delegation")

    assert (pathlib.Path(group) / "cgroup.freeze").exists()

    freezer.drop_group(group)

    assert not pathlib.Path(group).exists()


def test_a_tree_that_cannot_be_written_is_not_delegated(monkeypatch):
    monkeypatch.setattr(freezer, "_is_writable", lambda root: False)

    assert freezer.delegated_root() is None


def test_a_host_without_the_v2_tree_has_nothing_delegated(monkeypatch):
    monkeypatch.setattr(pathlib.Path, "read_text", lambda self: "proc /proc proc rw 0 0\n")

    assert freezer.delegated_root() is None


def test_a_group_that_is_gone_has_no_members(tmp_path):
    target = driver.Target(processes.Identity(1, 1), None, str(tmp_path / "gone"))
    how = freezer.FreezerDriver()
    how.kill(target, [])

    assert how.observe(target) == []
    assert how.is_held(target, [])
