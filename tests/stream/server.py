"""The web server of the product as a process of its own, on the test's database, that can be ended and started anew."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import urllib.parse

from django.db import connection

from xceweb.stack import ports, privileges, services, waiting

DEADLINE_S = 60


class Server:
    """One server on one loopback port, which stays its own from start to start."""

    def __init__(self, place: pathlib.Path) -> None:
        self.port = ports.free_port()
        self.origin = f"http://{ports.LOOPBACK}:{self.port}"
        self.starts = 0
        self._log = place / "web.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        argv = [sys.executable, "-P", "-m", "uvicorn", "xceweb.asgi:application", "--port", str(self.port)]
        argv += ["--ws", "websockets-sansio", "--lifespan", "off", "--log-level", "warning"]
        argv += ["--timeout-graceful-shutdown", "1"]
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(argv, env=self._environment(), stdout=output, stderr=output)
        self.starts += 1
        waiting.until(
            lambda: services.answers_ok(self.port, "/livez"), deadline_s=DEADLINE_S, what="the web server"
        )

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it: politely, as for an upgrade, or by SIGKILL."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(DEADLINE_S)
        self._process = None

    def complaints(self) -> str:
        """Return what it wrote of failures of the product: that a store goes is told by the clients of the store."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return "\n".join(line for line in lines if "ERROR" in line and ("xceweb" in line or "ASGI" in line))

    def _environment(self) -> dict[str, str]:
        parts = urllib.parse.urlsplit(os.environ["DATABASE_URL"])
        url = urllib.parse.urlunsplit(parts._replace(path=f"/{connection.settings_dict['NAME']}"))
        own = {"DATABASE_URL": url, "PYTHONPATH": str(privileges.PROJECT), "XCE_PUBLIC_URL": self.origin}
        own |= {"XCE_LIVE_PER_PERSON": "0", "XCE_API_REQUESTS_PER_MINUTE": "0"}
        return {**os.environ, **own}
