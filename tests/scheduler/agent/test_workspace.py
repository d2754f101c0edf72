"""Session directories and the specification of a job."""

import os
import stat

import pytest

from scheduler.agent import records, workspace
from tests.scheduler.agent import bench as benches


@pytest.fixture
def space(tmp_path):
    return workspace.Workspace(tmp_path / "state", "n1")


def spec_of(space, command, **more):
    return records.read(space.prepare(command, workspace.Terms(**more)) / records.SPEC)


def test_the_environment_is_made_from_scratch(space, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_AGENT", "x")
    command = benches.a_start(
        env={"MINE": "1", "LANG": "C", "XCE_NODE": "forged"}, nodes=("n1", "n2"), rank=1, epoch=3
    )
    env = spec_of(space, command)["env"]
    run = space.run_dir(command.session, 3)

    assert "SECRET_OF_THE_AGENT" not in env
    assert {"PATH", "HOME", "USER", "LANG", "TMPDIR"} <= env.keys()
    assert (env["MINE"], env["LANG"], env["XCE_NODE"]) == ("1", "C", "n1")
    assert (env["XCE_SESSION_ID"], env["XCE_ATTEMPT"], env["XCE_EPOCH"]) == (command.session, "1", "3")
    assert (env["XCE_NODES"], env["XCE_RANK"], env["XCE_SIZE"]) == ("n1,n2", "1", "2")
    assert env["XCE_OUTPUT_DIR"] == str(run / "work")


def test_devices_are_shown_by_index_and_hidden_when_none_is_held(space):
    held = benches.a_start(indices={"cuda.device": (1, 3), "fpga.card": (0,)})
    env = spec_of(space, held)["env"]

    assert (env["CUDA_VISIBLE_DEVICES"], env["XCE_INDICES_CUDA_DEVICE"]) == ("1,3", "1,3")
    assert env["XCE_INDICES_FPGA_CARD"] == "0"
    assert spec_of(space, benches.a_start())["env"]["CUDA_VISIBLE_DEVICES"] == ""


def test_the_checkpoint_directory_stays_over_attempts(space):
    first = benches.a_start()
    second = benches.a_start(session=first.session, epoch=2, attempt=2)
    places = [spec_of(space, command)["env"]["XCE_CHECKPOINT_DIR"] for command in (first, second)]

    assert places[0] == places[1]
    assert os.path.isdir(places[0])


@pytest.mark.parametrize(
    ("script", "begins"),
    [pytest.param("echo", "/bin/sh", id="plain"), pytest.param("#!/bin/cat\n", None, id="own interpreter")],
)
def test_a_script_runs_by_its_own_first_line_or_by_the_shell(space, script, begins):
    argv = spec_of(space, benches.a_start(script=script))["argv"]

    assert argv[:-1] == ([begins] if begins else [])
    assert os.access(argv[-1], os.X_OK)


def test_nobody_else_can_look_into_the_state_directory(space):
    run = space.prepare(benches.a_start(), workspace.Terms())

    assert {stat.S_IMODE(path.stat().st_mode) for path in (space.root, run, run / "work")} == {0o700}


def test_a_working_directory_that_does_not_exist_is_refused(space):
    with pytest.raises(NotADirectoryError, match="/no/such does not exist on this node"):
        space.prepare(benches.a_start(workdir="/no/such"), workspace.Terms())


def test_a_run_is_found_by_any_epoch_that_it_had(space):
    command = benches.a_start(epoch=2)
    later = benches.a_start(session=command.session, epoch=6)
    for each in (command, later):
        space.prepare(each, workspace.Terms())

    assert space.find_run(command.session, 1) is None
    assert space.find_run(command.session, 5) == space.run_dir(command.session, 2)
    assert space.find_run(command.session, 7) == space.run_dir(command.session, 6)
    assert sorted(space.runs()) == [(command.session, 2), (command.session, 6)]


def test_a_removed_run_leaves_the_checkpoints(space):
    command = benches.a_start()
    space.prepare(command, workspace.Terms())
    space.remove(command.session, 1)

    assert space.find_run(command.session, 1) is None
    assert space.checkpoint_dir(command.session).is_dir()

    space.drop_checkpoints(command.session)

    assert not space.checkpoint_dir(command.session).exists()


def test_share_and_limit_are_handed_on(space):
    spec = spec_of(space, benches.a_start(output_limit_bytes=99), cpus=(1, 2), cgroup="/x")

    assert (spec["cpus"], spec["cgroup"], spec["output_limit"]) == ([1, 2], "/x", 99)
