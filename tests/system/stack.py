"""A whole stack of real processes, as `bin/up` runs it, for tests that need one."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.system import console
from xceweb.stack import ports, privileges

READY_DEADLINE_S = 150
STOP_DEADLINE_S = 60


class Stack:
    """One running stack: where it answers, who may log in, which processes it has."""

    #: What is run; of `bin/up`'s arguments.
    module = "xceweb.stack.up"

    def __init__(self, data_dir: pathlib.Path, *options: str, environ: dict[str, str] | None = None) -> None:
        """Start it on a free port; `options` are further arguments of `bin/up`."""
        self.data_dir = data_dir
        self.port = ports.free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.output: list[str] = []
        self._console = console.Console(data_dir, _environment())
        self.up = subprocess.Popen(
            up_command(self.port, data_dir, *options, module=self.module),
            env=_environment() | (environ or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_until_ready(self) -> None:
        """Read its output up to the line that says `ready`."""
        for line in self.up.stdout:
            self.output.append(line.rstrip("\n"))
            if line.startswith("ready "):
                return
        raise AssertionError("the stack ended before it was ready:\n" + "\n".join(self.output))

    @property
    def env(self) -> dict[str, str]:
        """Environment that names its database and its broker."""
        return self._facts()["env"]

    @property
    def logins(self) -> dict[str, dict[str, str]]:
        """Log-ins made at its first start: user name -> username, password, role, note."""
        return {login["username"]: login for login in json.loads((self.data_dir / "logins.json").read_text())}

    def processes(self) -> dict[str, int]:
        """Return name -> process id of what it runs now."""
        return self._facts()["processes"]

    def process(self, name: str) -> int:
        """Return the process id of one of its processes."""
        return self.processes()[name]

    def kill(self, name: str) -> int:
        """Kill one of its processes with SIGKILL; returns the id of the one started in its place."""
        old = self.process(name)
        os.kill(old, signal.SIGKILL)
        return until(lambda: self._successor(name, old), what=f"another {name}")

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Stop it as Ctrl-C does; returns the exit code of `bin/up`."""
        self.close_console()
        if self.up.poll() is None:
            self.up.send_signal(number)
        self.output += self.up.communicate(timeout=STOP_DEADLINE_S)[0].splitlines()
        return self.up.returncode

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a Django command against it, as `bin/manage` does."""
        return subprocess.run(
            [sys.executable, "-P", "-m", "xceweb.stack.manage", *arguments],
            env=_environment() | {"XCE_DATA_DIR": str(self.data_dir)},
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, script: str) -> str:
        """Run a Python script in its Django environment; returns what it printed."""
        return self._console.run(script)

    def close_console(self) -> None:
        """End the process behind `run`, which is the caller's; the next `run` starts another."""
        self._console.close()

    def _successor(self, name: str, old: int) -> int | None:
        found = self.processes().get(name, old)
        return found if found != old and is_alive(found) else None

    def _facts(self) -> dict[str, Any]:
        return json.loads((self.data_dir / "run.json").read_text())


def up_command(port: int, data_dir: pathlib.Path, *options: str, module: str = Stack.module) -> list[str]:
    """Return the command line that `bin/up` becomes."""
    arguments = ["--port", str(port), "--data-dir", str(data_dir), *options]
    return [sys.executable, "-P", "-m", module, *arguments]


@contextlib.contextmanager
def running(data_dir: pathlib.Path, *options: str, environ: dict[str, str] | None = None) -> Iterator[Stack]:
    """Run a stack until the end of the block."""
    stack = Stack(data_dir, *options, environ=environ)
    try:
        stack.wait_until_ready()
        yield stack
    finally:
        stack.stop()
        end_sessions(data_dir)


def end_sessions(data_dir: pathlib.Path) -> None:
    """End the sessions that outlive their stack, as they should, once its data directory is of no more use."""
    for pid in processes_about(data_dir):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def until(look: Callable[[], Any], *, what: str, deadline_s: float = 60) -> Any:
    """
    Look until something is found; returns it.

    Raises:
        AssertionError: not found within `deadline_s` seconds.
    """
    end = time.monotonic() + deadline_s
    while not (found := look()):
        assert time.monotonic() < end, f"{what}: not within {deadline_s:g} s"
        time.sleep(0.05)
    return found


def is_alive(pid: int) -> bool:
    """Say whether a process exists and is no zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def processes_about(data_dir: pathlib.Path) -> dict[int, str]:
    """Return the processes that work on a data directory: pid -> command line."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            words = read(entry / "cmdline") + b" " + read(entry / "environ")
            if os.fsencode(data_dir) in words and is_alive(int(entry.name)):
                found[int(entry.name)] = read(entry / "cmdline").replace(b"\0", b" ").decode(errors="replace")
    return found


def wait_until_nothing_is_left(data_dir: pathlib.Path) -> None:
    """
    Wait for the end of every process that works on a data directory.

    Raises:
        AssertionError: with those that are left.
    """
    with contextlib.suppress(AssertionError):
        until(lambda: not processes_about(data_dir), what="the end of all processes")
    assert processes_about(data_dir) == {}


def uid_of(pid: int) -> int:
    """Return the effective user id of a process."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Uid:")).split()[2])


def read(path: pathlib.Path) -> bytes:
    """Return what a file of /proc holds; nothing when its process is gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _environment() -> dict[str, str]:
    """The caller's environment without the servers and settings of the test run."""
    own = {"DATABASE_URL", "REDIS_URL", "BROKER_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "XCE_DATA_DIR"}
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return kept | {"PYTHONPATH": str(privileges.PROJECT)}
