import os
import socket
import subprocess
import sys

import pytest

from xceweb.stack import datadir, ports


def up(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-P", "-m", "xceweb.stack.up", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


def test_a_taken_port_is_one_line_and_starts_nothing(tmp_path):
    with socket.create_server((ports.LOOPBACK, 0)) as server:
        done = up("--port", str(server.getsockname()[1]), "--data-dir", str(tmp_path / "data"))

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "is taken by another program" in done.stderr
    assert not (tmp_path / "data" / "postgres").exists()


def test_a_data_directory_that_cannot_be_used_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    done = up("--port", str(ports.free_port()), "--data-dir", str(tmp_path / "file"))

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "cannot be used: File exists" in done.stderr


def test_a_second_start_says_where_the_first_runs(tmp_path):
    directory = datadir.open_at(tmp_path, None)
    held = datadir.lock(directory)
    datadir.write_run_file(directory, url="http://127.0.0.1:8000", env={})
    done = up("--port", str(ports.free_port()), "--data-dir", str(tmp_path))
    os.close(held)

    assert done.returncode == 1
    assert (
        done.stderr
        == f"error: this data directory already runs at http://127.0.0.1:8000 (pid {os.getpid()})\n"
    )


@pytest.mark.parametrize("port", ["x", "-1"])
def test_a_port_that_is_none_is_refused(port, tmp_path):
    assert up("--port", port, "--data-dir", str(tmp_path)).returncode == 2
