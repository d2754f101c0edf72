"""A web server process on a benchmark's database, and programs that ask it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import resource
import subprocess
import sys
from collections.abc import Iterator

from bench import stack
from xceweb.stack import ports, privileges, services

#: What the stack gives its web server (`xceweb.stack.services.web`).
FLAGS = (
    "--ws",
    "websockets-sansio",
    "--ws-per-message-deflate",
    "false",
    "--lifespan",
    "off",
    "--log-level",
    "warning",
)
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """One uvicorn process."""

    def __init__(self, application: str, *flags: str) -> None:
        self.port = ports.free_port()
        argv = [sys.executable, "-P", "-m", "uvicorn", application, "--port", str(self.port), *FLAGS, *flags]
        env = {**os.environ, "PYTHONPATH": str(privileges.PROJECT), "XCE_LIVE_PER_PERSON": "0"}
        self._process = subprocess.Popen(argv, env={**env, "XCE_API_REQUESTS_PER_MINUTE": "0"})

    def memory_bytes(self) -> int:
        """Return how much memory it holds now."""
        fields = pathlib.Path(f"/proc/{self._process.pid}/statm").read_text().split()
        return int(fields[1]) * _PAGE

    def processor_s(self) -> float:
        """Return how much processor time it has used so far."""
        fields = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()


@contextlib.contextmanager
def serving(application: str, *flags: str, path: str = "/livez") -> Iterator[Server]:
    """Run a server until the end of the block; it is up when a path answers."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = Server(application, *flags)
    try:
        stack.until(lambda: services.answers_ok(server.port, path), what="the web server")
        yield server
    finally:
        server.stop()


def cookie(user: object) -> str:
    """Log somebody in; returns the header of the browser's cookie."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"
