"""RabbitMQ on ports and in directories of its own, with one account for the controller and one for each node."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

#: Debian's package puts the server's own script here; the one in PATH wants to be root and to run it as another user.
SERVER = pathlib.Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
WHY_NOT = "RabbitMQ is not installed; Debian: apt-get install rabbitmq-server"
DEADLINE_S = 90
CONTROLLER = "controller"


def is_installed() -> bool:
    """Say whether there is one to start."""
    return SERVER.exists() and shutil.which("epmd") is not None


class Rabbit:
    """One server process, and the small process that Erlang asks for names; both end with `down`."""

    def __init__(self, place: pathlib.Path, *nodes: str) -> None:
        self._place = place
        place.mkdir(parents=True, exist_ok=True)
        self.port, self._names_port, self._dist_port = _free_ports(3)
        accounts = [_account(CONTROLLER, configure=".*", write=".*", read=".*")]
        for node in nodes:
            own = re.escape(f"node.{node}")
            rights = {"configure": f"^{own}$", "write": f"^({own}|controller)$", "read": f"^{own}$"}
            accounts.append(_account(node, **rights))
        self._write_settings(accounts)
        self._processes: list[subprocess.Popen[bytes]] = []

    def url(self, account: str) -> str:
        """Return the broker URL of an account."""
        return f"amqp://{account}:{account}@127.0.0.1:{self.port}//"

    def up(self) -> None:
        """Start it, and wait until it takes connections."""
        names = ["epmd", "-port", str(self._names_port), "-address", "127.0.0.1"]
        log = (self._place / "log").open("ab")
        for command in (names, [str(SERVER)]):
            self._processes.append(
                subprocess.Popen(
                    command, env=self._env(), cwd=self._place, stdout=log, stderr=log, start_new_session=True
                )
            )
        log.close()
        self._wait()

    def down(self) -> None:
        """End both processes."""
        for process in reversed(self._processes):
            os.killpg(process.pid, signal.SIGTERM)
        for process in reversed(self._processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._processes.clear()

    def _wait(self) -> None:
        end = time.monotonic() + DEADLINE_S
        while "Server startup complete" not in (self._place / "log").read_text(errors="replace"):
            text = (self._place / "log").read_text(errors="replace")[-3000:]
            assert time.monotonic() < end, text
            assert self._processes[-1].poll() is None, text
            time.sleep(0.1)

    def _env(self) -> dict[str, str]:
        here = str(self._place)
        return {
            "PATH": os.environ["PATH"],
            "HOME": here,
            "ERL_EPMD_PORT": str(self._names_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": f"{here}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{here}/plugins",
            "RABBITMQ_NODENAME": f"xce{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._dist_port),
            "RABBITMQ_MNESIA_BASE": f"{here}/data",
            "RABBITMQ_LOG_BASE": f"{here}/logs",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": f"{here}/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1 +sbwt none",
        }

    def _write_settings(self, accounts: list[tuple[dict[str, str], dict[str, str]]]) -> None:
        definitions = {
            "vhosts": [{"name": "/"}],
            "users": [user for user, _ in accounts],
            "permissions": [rights for _, rights in accounts],
        }
        (self._place / "definitions.json").write_text(json.dumps(definitions))
        (self._place / "plugins").write_text("[].\n")
        (self._place / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\n"
            f"load_definitions = {self._place / 'definitions.json'}\n"
            "log.console = true\nlog.console.level = info\nlog.file = false\n"
        )


def _account(name: str, **rights: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return a user whose password is its name, and what it may do."""
    salt = b"salt"
    digest = base64.b64encode(salt + hashlib.sha256(salt + name.encode()).digest()).decode()
    algorithm = "rabbit_password_hashing_sha256"
    user = {"name": name, "password_hash": digest, "hashing_algorithm": algorithm, "tags": ""}
    return user, {"user": name, "vhost": "/", **rights}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
