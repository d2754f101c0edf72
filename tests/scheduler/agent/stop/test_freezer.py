"""Where the freezer is delegated and which driver a run gets; its acts are in the conformance suite."""

import pathlib
import subprocess

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


@pytest.fixture
def own_directory():
    """A directory like one that is delegated, with two processes in it, and what to do with them."""
    root = freezer.delegated_root()
    if root is None:
        pytest.skip("no cgroup v2 directory is delegated to this user")
    place = pathlib.Path(freezer.make_group(root, "test-of-settling"))
    sleepers = [subprocess.Popen(["sleep", "1000"]) for _ in range(2)]
    for sleeper in sleepers:
        (place / "cgroup.procs").write_text(str(sleeper.pid))
    yield place, sleepers
    for sleeper in sleepers:
        sleeper.kill()
        sleeper.wait()
    freezer.drop_group(str(place / "xce-agent"))
    freezer.drop_group(str(place))


def test_an_agent_leaves_its_directory_to_the_groups_of_sessions(own_directory):
    place, sleepers = own_directory
    for _ in range(2):
        freezer.settle(place)

        assert (place / "cgroup.procs").read_text() == ""
        assert {int(p) for p in (place / "xce-agent" / "cgroup.procs").read_text().split()} == {
            sleeper.pid for sleeper in sleepers
        }


def test_the_root_of_the_tree_is_left_as_it_is(tmp_path):
    (tmp_path / "cgroup.procs").write_text("1\n")
    freezer.settle(tmp_path)

    assert not (tmp_path / "xce-agent").exists()


def test_an_agent_that_settled_finds_the_same_directory_again(monkeypatch):
    texts = {"/proc/self/mounts": "none /m cgroup2 rw 0 0\n", "/proc/self/cgroup": "0::/a/b/xce-agent\n"}
    monkeypatch.setattr(pathlib.Path, "read_text", lambda self: texts[str(self)])
    monkeypatch.setattr(freezer, "_is_writable", lambda root: True)

    assert freezer.delegated_root() == pathlib.Path("/m/a/b")
