"""`bin/up` with real processes: it comes up, keeps running, and leaves nothing behind."""

import os
import pathlib
import pwd
import signal
import subprocess
import urllib.request

import psycopg
import pytest

from tests.system import stack as stacks
from xceweb.stack import ports

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]
SECRETS = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "BROKER_URL")
SERVICES = ["postgres", "valkey", "web", "worker", "beat"]


def start_again(data_dir: pathlib.Path, port: int) -> subprocess.CompletedProcess[str]:
    command = stacks.up_command(port, data_dir)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_demo_cluster_says_ready_and_its_logins(stack):
    assert stack.output[stack.output.index(f"ready {stack.base_url}") - 1].startswith("  ")
    assert len(stack.logins) == 4
    with urllib.request.urlopen(f"{stack.base_url}/readyz") as answer:
        assert answer.status == 200


def test_every_process_of_the_stack_runs(stack):
    agents = {name for name in stack.processes() if name.startswith("agent-")}

    assert set(SERVICES) | agents == set(stack.processes())
    assert agents >= {"agent-gpu-1", "agent-gpu-2", "agent-batch-1", "agent-batch-2"}
    assert all(stacks.is_alive(pid) for pid in stack.processes().values())


def test_nothing_but_the_supervisor_runs_as_root(stack):
    expected = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()
    stack.close_console()
    users = {
        line: stacks.uid_of(pid)
        for pid, line in stacks.processes_about(stack.data_dir).items()
        if pid != stack.up.pid
    }

    assert len(users) > len(SERVICES)
    assert {line: user for line, user in users.items() if user != expected} == {}


def test_no_secret_stands_on_a_command_line(stack):
    lines = stacks.processes_about(stack.data_dir)
    secrets = [value for name, value in stack.env.items() if name in SECRETS]

    assert [line for line in lines.values() for secret in secrets if secret in line] == []


def test_a_second_start_on_the_same_directory_says_where_the_first_runs(stack):
    done = start_again(stack.data_dir, ports.free_port())

    assert done.returncode == 1
    assert (
        done.stderr == f"error: this data directory already runs at {stack.base_url} (pid {stack.up.pid})\n"
    )


def test_a_taken_port_is_one_line_and_leaves_nothing(stack, data_dir):
    done = start_again(data_dir, stack.port)

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"port {stack.port} is taken" in done.stderr
    assert stacks.processes_about(data_dir) == {}


@pytest.mark.parametrize("name", ["web", "worker", "beat", "agent-gpu-1", "valkey", "postgres"])
def test_what_is_killed_is_started_again_and_the_stack_is_ready_again(stack, name):
    successor = stack.kill(name)
    stacks.until(lambda: answers(f"{stack.base_url}/readyz"), what="readiness", deadline_s=60)

    assert stack.process(name) == successor


def test_commands_work_against_the_running_stack(stack):
    done = stack.manage("showmigrations", "scheduler")

    assert done.returncode == 0, done.stderr
    assert "[X] 0001_initial" in done.stdout


def test_one_interrupt_stops_all_and_the_next_start_finds_everything(data_dir):
    with stacks.running(data_dir, "--no-demo") as first:
        logins = first.logins
        with psycopg.connect(first.env["DATABASE_URL"]) as database:
            database.execute("CREATE TABLE kept AS SELECT 7 AS value")
        code = first.stop(signal.SIGINT)

    assert code == 0
    assert stacks.processes_about(data_dir) == {}
    with stacks.running(data_dir, "--no-demo") as second:
        with psycopg.connect(second.env["DATABASE_URL"]) as database:
            kept = database.execute("SELECT value FROM kept").fetchone()[0]
        assert second.logins == logins
    assert kept == 7


def test_a_killed_supervisor_takes_its_processes_along(data_dir):
    with stacks.running(data_dir, "--no-demo") as first:
        first.up.kill()
        first.up.wait()
        stacks.wait_until_nothing_is_left(data_dir)
        with stacks.running(data_dir, "--no-demo") as second:
            assert set(second.processes()) == set(SERVICES)


def test_external_servers_are_used_and_none_is_embedded(stack, data_dir):
    names = ("DATABASE_URL", "REDIS_URL", "BROKER_URL")
    external = {name: stack.env[name] for name in names}
    external["DATABASE_URL"] = a_database_beside(external["DATABASE_URL"])
    external |= {
        "REDIS_URL": f"{external['REDIS_URL'][:-1]}8",
        "BROKER_URL": f"{external['BROKER_URL'][:-1]}9",
    }
    with stacks.running(data_dir, "--no-demo", environ=external) as other:
        assert set(other.processes()) == {"web", "worker", "beat"}
        assert not (data_dir / "postgres").exists()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def a_database_beside(url: str) -> str:
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("CREATE DATABASE beside")
    return f"{url.rpartition('/')[0]}/beside"
