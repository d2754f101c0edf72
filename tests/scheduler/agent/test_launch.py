"""What happens between fork and exec; most of it is seen from inside a job in the shepherd's tests."""

import os

import pytest

from scheduler.agent import launch, processes
from scheduler.protocol import messages


def test_a_hole_keeps_the_size_and_gives_the_blocks_back(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1_000_000)
    before = path.stat().st_blocks
    with path.open("r+b") as file:
        if not launch.punch_hole(file.fileno(), 4096, 900_000 // 4096 * 4096):
            pytest.skip("this file system cannot punch holes")

    assert path.stat().st_size == 1_000_000
    assert path.stat().st_blocks < before / 5


def test_a_hole_in_what_is_no_file_is_refused():
    reader, writer = os.pipe()
    try:
        assert not launch.punch_hole(writer, 0, 4096)
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_job_is_bound_to_its_processors(bench):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor cannot be shared out")
    run = await bench.started(slots={"cpu": 1000})

    assert len(os.sched_getaffinity(run.pid)) == 1


async def test_a_supervisor_carries_a_name_that_people_recognise(bench):
    run = await bench.started()
    name = (processes.PROC / str(run.shepherd.pid) / "comm").read_text().strip()

    assert name == "xce-shepherd"


async def test_a_program_that_may_not_be_executed_is_a_failed_start(bench, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("x")
    from tests.scheduler.agent import bench as benches

    failed = await bench.ask(benches.a_start(argv=(str(plain),)), messages.StartFailed)

    assert failed.error == f"cannot run {plain}: Permission denied"
