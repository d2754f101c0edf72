"""The fork server from the agent's side."""

import os

import pytest

from scheduler.agent import processes, spawner, starting, workspace
from tests.scheduler.agent import bench as benches


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


@pytest.fixture
def dying(monkeypatch):
    """A fork server that drops what it is asked and stays, as one does that was killed a moment ago."""
    drops = "import socket; s = socket.socket(fileno=0)\nwhile socket.recv_fds(s, 8192, 0)[0]: pass"
    with monkeypatch.context() as patch:
        patch.setattr(spawner, "_PROGRAM", drops)
        one = spawner.Spawner()
    yield one
    one.close()


async def test_what_a_dying_fork_server_dropped_is_asked_of_another(dying, tmp_path):
    means = starting.Means(None, workspace.Workspace(tmp_path / "state", "n1"), dying)
    old = processes.look(dying.pid).identity

    job = await starting.start(benches.a_start(argv=("sleep", "1000")), means, ())
    processes.send(processes.Identity(*job["job"]), 9)

    assert not processes.is_alive(old)


async def test_fork_server_and_shepherds_know_no_address_and_no_key_of_the_agent(monkeypatch, tmp_path):
    secrets = {"BROKER_URL": "amqp://n1:hidden@h//", "SECRET_KEY": "hidden", "some_password": "hidden"}
    for name, value in {**secrets, "TZ": "UTC"}.items():
        monkeypatch.setenv(name, value)
    one = spawner.Spawner()
    means = starting.Means(None, workspace.Workspace(tmp_path / "state", "n1"), one)
    job = await starting.start(benches.a_start(argv=("sleep", "1000")), means, ())
    seen = [processes.environment(pid) for pid in (one.pid, job["shepherd"][0])]
    processes.send(processes.Identity(*job["job"]), 9)
    one.close()

    assert all(b"TZ=UTC" in environment for environment in seen)
    assert not any(b"hidden" in environment for environment in seen)
