"""What a session may use; that the limits hold is seen in `test_hostile`."""

import json
import os
import pathlib
import resource

import pytest

from scheduler.agent import limits
from scheduler.agent.stop import freezer

MIB = 2**20
SHARE = {"processes": 50, "files": 60, "memory": 512 * MIB, "cpu": 1500}
FILES = ("pids.max", "memory.max", "memory.swap.max", "cpu.max")


def test_limits_come_from_the_agent_and_from_the_slots_of_the_session():
    bounds = limits.Limits(processes=50, files=60)

    assert bounds.of({"mem": 512 * MIB, "cpu": 1500, "cuda.device": 1}) == SHARE
    assert bounds.of({}) == SHARE | {"memory": 0, "cpu": 0}


def in_a_child(act):
    """Return what a child process prints after it has acted."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.write(writer, json.dumps(act()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)


@pytest.mark.parametrize(("memory", "allowed"), [(512 * MIB, 512 * MIB), (MIB, 256 * MIB), (0, -1)])
def test_a_process_is_limited_and_an_interpreter_always_has_room(memory, allowed):
    kinds = (resource.RLIMIT_CORE, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_DATA)

    def act():
        limits.limit_process(SHARE | {"memory": memory})
        return [resource.getrlimit(kind) for kind in kinds]

    assert in_a_child(act) == [[0, 0], [50, 50], [60, 60], [allowed, allowed]]


def test_no_limit_is_ever_raised():
    def act():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 55))
        limits.limit_process({"files": 10_000})
        return resource.getrlimit(resource.RLIMIT_NOFILE)

    assert in_a_child(act) == [40, 55]


def test_a_control_group_gets_what_its_controllers_take(tmp_path):
    for name in FILES:
        (tmp_path / name).touch()
    limits.limit_group(str(tmp_path), SHARE)

    assert [(tmp_path / name).read_text() for name in FILES] == ["50", str(512 * MIB), "0", "150000 100000"]


@pytest.fixture
def controlled():
    """A real control group below one that is delegated to this user, with all controllers that limits need."""
    root = freezer.delegated_root()
    if root is None:
        pytest.skip("no cgroup v2 directory is delegated to this user")
    missing = {"cpu", "memory", "pids"} - limits.controllers(root)
    if missing:
        names = ", ".join(sorted(missing))
        pytest.skip(
            f"{root} passes no {names} on: cgroup v1 holds them, or processes in it keep the kernel from it"
        )
    group = freezer.make_group(root, "limits-test")
    yield pathlib.Path(group)
    freezer.drop_group(group)


def test_the_kernel_takes_the_limits_of_a_control_group(controlled):
    limits.limit_group(str(controlled), SHARE)

    found = [(controlled / name).read_text().strip() for name in ("pids.max", "memory.max", "cpu.max")]
    assert found == ["50", str(512 * MIB), "150000 100000"]


def test_a_control_group_without_controllers_stays_as_it_is(tmp_path):
    limits.limit_group(str(tmp_path), SHARE)

    assert list(tmp_path.iterdir()) == []


def test_a_session_that_asked_for_no_memory_and_no_processor_is_not_limited_in_them(tmp_path):
    for name in FILES:
        (tmp_path / name).write_text("max")
    limits.limit_group(str(tmp_path), SHARE | {"memory": 0, "cpu": 0})

    assert [(tmp_path / name).read_text() for name in FILES] == ["50", "max", "max", "max"]


def test_a_directory_that_is_no_control_group_has_no_controllers(tmp_path):
    assert limits.controllers(tmp_path / "gone") == frozenset()


@pytest.mark.parametrize(("processes", "is_asked"), [("", True), ("7\n", False)])
def test_controllers_are_asked_for_only_where_no_process_is_in_the_way(tmp_path, processes, is_asked):
    for name, text in {"type": "domain", "procs": processes, "subtree_control": ""}.items():
        (tmp_path / f"cgroup.{name}").write_text(text)

    assert bool(limits.controllers(tmp_path)) is is_asked


def test_the_root_of_the_tree_may_pass_controllers_on_whoever_is_in_it(tmp_path):
    for name, text in {"procs": "1\n", "subtree_control": ""}.items():
        (tmp_path / f"cgroup.{name}").write_text(text)

    assert limits.controllers(tmp_path)
