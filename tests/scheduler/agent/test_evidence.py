"""What was seen, in the words of the protocol."""

import os

import pytest

from scheduler.agent import evidence, processes, runs
from tests.scheduler.agent import bench as benches


def test_members_are_told_up_to_a_thousand():
    me = processes.look(os.getpid())
    told = evidence.members([me] * 1001)

    assert len(told) == 1000
    assert (told[0].pid, told[0].start_time, told[0].state) == (me.pid, me.start_time, me.state)


@pytest.mark.parametrize(("limit", "is_cut"), [(0, False), (3, True), (4, False)])
def test_a_tail_says_whether_the_limit_cut_the_output(tmp_path, limit, is_cut):
    path = tmp_path / "output"
    path.write_text("abcd")
    run = runs.Run(start=benches.a_start(output_limit_bytes=limit), epoch=3)
    told = evidence.tail(run, path)

    assert (told.tail, told.size, told.truncated) == ("abcd", 4, is_cut)
    assert (told.session, told.epoch) == (run.session, 3)
