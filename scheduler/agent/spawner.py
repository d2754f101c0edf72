"""The agent's side of the fork server: start it, ask it for shepherds, start another one when it died."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Mapping

_ROOT = str(pathlib.Path(__file__).resolve().parents[2])
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from scheduler.agent import forkserver; forkserver.main()"
)


#: Parts of the names of variables that may hold an address with its password, or a key.
_SECRETS = ("URL", "KEY", "SECRET", "PASSWORD", "TOKEN")


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a fork server and its shepherds need of the agent's environment; they speak to no broker."""
    return {
        name: value
        for name, value in environment.items()
        if not any(part in name.upper() for part in _SECRETS)
    }


class Spawner:
    """
    Starts shepherds. Create it before threads exist; a start then costs a fork of a small process.

    A dead fork server is noticed by the next request and replaced by a new process (not by a fork of the
    agent, which has threads by then).
    """

    def __init__(self) -> None:
        self._requests: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._start()

    @property
    def pid(self) -> int:
        """Pid of the present fork server, 0 after `close`."""
        return self._server.pid if self._server else 0

    def spawn(self, directory: str, *, anew: bool = False) -> int:
        """
        Fork a shepherd for a prepared session directory.

        Args:
            directory: the session's.
            anew: ask a new fork server. A dying one still takes requests: its socket may outlive, for a
                moment, the pipes that it held.

        Returns:
            A descriptor that becomes readable (end of file) when the records of the directory tell the
            result.

        Raises:
            OSError: neither the old nor a new fork server takes the request.
        """
        reader, writer = os.pipe()
        try:
            if anew:
                self._start()
            self._request(directory, writer)
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        return reader

    def close(self) -> None:
        """Hang up; the fork server leaves, the shepherds stay."""
        if self._requests is not None:
            self._requests.close()
        if self._server is not None:
            self._server.wait(timeout=10)
        self._requests = self._server = None

    def _request(self, directory: str, pipe: int) -> None:
        if self._server is None or self._server.poll() is not None:
            self._start()
        try:
            self._send(directory, pipe)
        except OSError:
            self._start()
            self._send(directory, pipe)

    def _send(self, directory: str, pipe: int) -> None:
        assert self._requests is not None
        socket.send_fds(self._requests, [directory.encode()], [pipe])

    def _start(self) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self.close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-I", "-S", "-c", _PROGRAM, _ROOT]
            self._server = subprocess.Popen(
                command, stdin=theirs.fileno(), start_new_session=True, env=_without_secrets(os.environ)
            )
        self._requests = ours
