"""The fork server as a process."""

from scheduler.agent import processes, spawner


def test_it_is_a_small_process_without_threads_or_packages():
    one = spawner.Spawner()
    process = processes.look(one.pid)
    loaded = (processes.PROC / str(one.pid) / "maps").read_text()
    one.close()

    assert process.threads == 1
    assert "site-packages" not in loaded


def test_it_ends_when_the_agent_hangs_up():
    one = spawner.Spawner()
    identity = processes.look(one.pid).identity
    one.close()

    assert not processes.is_alive(identity)
