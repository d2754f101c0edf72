"""A whole stack of real processes for benchmarks: made in a temporary directory, empty, stopped afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from scheduler.agent import processes
from xceweb.stack import embedded, ports, privileges, services

DEADLINE_S = 120
_OWN = (*embedded.EXTERNAL, "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "XCE_DATA_DIR")


@dataclasses.dataclass(frozen=True)
class Stack:
    """One running stack, with Django set up on its database."""

    directory: pathlib.Path

    def port(self) -> int:
        """Return the port of its web server."""
        url: str = json.loads((self.directory / "run.json").read_text())["url"]
        return int(url.rpartition(":")[2].strip("/"))

    def add_node(self, name: str, group: Any, *, capacity: dict[str, int]) -> Any:
        """Add a node, with an agent of its own on this machine; returns once its agent has spoken."""
        from scheduler import models
        from scheduler.management import key_files
        from scheduler.services import actors, nodes

        admin = actors.of_user(models.User.objects.get(is_superuser=True))
        node = nodes.create_node(admin, name, group, capacity=capacity)
        home = self.directory / "agents" / name
        home.mkdir(mode=0o700)
        key_files.enroll(admin, node, home / "key.new")
        (home / "key.new").rename(home / "key.json")
        heard = models.AgentStatus.objects.filter(node=node, last_report_at__isnull=False)
        until(heard.exists, what=f"the agent of {name}")
        return node

    def processor_s(self) -> dict[str, float]:
        """Return the processor time of each service so far, its children's included; of all agents together."""
        spent: dict[str, float] = {}
        for name, pid in json.loads((self.directory / "run.json").read_text())["processes"].items():
            service = "agents" if name.startswith("agent-") else name
            spent[service] = spent.get(service, 0) + _spent_s(pid)
        return spent


def _spent_s(pid: int) -> float:
    """Return what a process, those below it and the dead that they waited for have spent, in seconds."""
    process = processes.look(pid)
    if process is None:
        return 0
    return (process.cpu_ms + process.reaped_ms) / 1000 + sum(map(_spent_s, processes.children(pid)))


def until(
    look: Callable[[], Any], *, what: str, pause_s: float = 0.02, deadline_s: float = DEADLINE_S
) -> Any:
    """
    Look until something is found; returns it.

    Raises:
        TimeoutError: not found in time.
    """
    end = time.monotonic() + deadline_s
    while not (found := look()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {deadline_s:g} s")
        time.sleep(pause_s)
    return found


@contextlib.contextmanager
def running() -> Iterator[Stack]:
    """
    Run an empty stack, as `bin/up --no-demo` does, until the end of the block.

    What the environment names as servers is left alone: no benchmark works on data that somebody needs.
    """
    named = {name: os.environ.pop(name) for name in _OWN if name in os.environ}
    try:
        with tempfile.TemporaryDirectory(prefix="xce-bench-", ignore_cleanup_errors=True) as place:
            pathlib.Path(place).chmod(0o711)
            directory = pathlib.Path(place) / "data"
            with _up(directory) as facts:
                os.environ.update(facts["env"])
                _set_up()
                yield Stack(directory)
                _hang_up()
    finally:
        os.environ.update(named)


@contextlib.contextmanager
def _up(directory: pathlib.Path) -> Iterator[dict[str, Any]]:
    port = ports.free_port()
    argv = services.python(
        "-m", "xceweb.stack.up", "--no-demo", "--port", str(port), "--data-dir", str(directory)
    )
    process = subprocess.Popen(
        argv,
        env={**os.environ, "PYTHONPATH": str(privileges.PROJECT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stdout or ():
            if line.startswith("ready "):
                break
        else:
            raise RuntimeError("the stack ended before it was ready")
        yield json.loads((directory / "run.json").read_text())
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()
        _end_sessions(directory)


def _end_sessions(directory: pathlib.Path) -> None:
    """End the sessions, which outlive their stack as they should."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if (
                    os.fsencode(directory)
                    in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                ):
                    os.kill(int(entry.name), signal.SIGKILL)


def _set_up() -> None:
    import django

    os.environ.setdefault("XCE_LOG_LEVEL", "WARNING")
    django.setup()


def _hang_up() -> None:
    from django.db import connections

    connections.close_all()
    for connection in connections.all():
        connection.close_pool()
