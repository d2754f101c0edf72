"""The fork server from the agent's side."""

import os

from scheduler.agent import processes, spawner


def test_a_request_that_no_shepherd_can_serve_ends_with_a_hung_up_pipe(forks, tmp_path):
    with os.fdopen(forks.spawn(str(tmp_path / "nowhere")), "rb") as ready:
        assert ready.read() == b""


def test_closing_ends_the_fork_server_and_a_request_starts_another(tmp_path):
    one = spawner.Spawner()
    first = processes.look(one.pid).identity
    one.close()

    assert not processes.is_alive(first)
    assert one.pid == 0

    with os.fdopen(one.spawn(str(tmp_path)), "rb") as ready:
        ready.read()
    second = one.pid
    one.close()

    assert second not in (0, first.pid)
