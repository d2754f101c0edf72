"""
Database and broker of one machine: the embedded servers, or the external ones that the environment names.

Also a command: `python -m xceweb.stack.embedded --data-dir D` runs both servers and prints their URLs, for
tests and for work on the application alone.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence

from xceweb.stack import (
    accounts,
    children,
    datadir,
    errors,
    keys,
    postgres,
    privileges,
    services,
    supervisor,
    valkey,
    waiting,
)

EXTERNAL = ("DATABASE_URL", "REDIS_URL", "BROKER_URL")


@dataclasses.dataclass(frozen=True)
class Backing:
    """The servers to start, none of them for what is external, and the environment that names all."""

    services: Sequence[services.Service]
    env: Mapping[str, str]


def choose(
    directory: datadir.DataDir,
    account: accounts.Account | None,
    *,
    environ: Mapping[str, str] = os.environ,
    database_settings: Sequence[str] = (),
) -> Backing:
    """
    Decide what is embedded, and prepare its directories.

    Args:
        environ: DATABASE_URL makes PostgreSQL external, REDIS_URL the event store and, without BROKER_URL,
            the broker too; BROKER_URL the broker alone.
        database_settings: further settings of the embedded PostgreSQL.
    """
    secrets = keys.load(directory.root)
    given = {name: environ[name] for name in EXTERNAL if environ.get(name)}
    if "REDIS_URL" in given:
        given.setdefault("BROKER_URL", given["REDIS_URL"])
    started: list[services.Service] = []
    made: dict[str, str] = {}
    if "DATABASE_URL" not in given:
        database = postgres.describe(
            directory.root, secrets=secrets, account=account, settings=database_settings
        )
        started.append(services.Service("postgres", database, stop_signal=signal.SIGINT, grace_s=30))
        made["DATABASE_URL"] = database.url
    if "REDIS_URL" not in given:
        store = valkey.describe(directory.root, secrets=secrets, account=account)
        started.append(services.Service("valkey", store))
        made |= {"REDIS_URL": f"{store.url}/0", "BROKER_URL": f"{store.url}/1"}
    return Backing(started, {**_own(environ, directory, secrets), **made, **given})


def _own(environ: Mapping[str, str], directory: datadir.DataDir, secrets: keys.Keys) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": environ.get("DJANGO_SETTINGS_MODULE", "xceweb.settings.local"),
        "SECRET_KEY": environ.get("SECRET_KEY") or secrets.secret_key,
        "XCE_DATA_DIR": str(directory.root),
    }


@contextlib.contextmanager
def running(data_dir: pathlib.Path, *, throwaway: bool = False) -> Iterator[dict[str, str]]:
    """
    Run the embedded servers in a process of their own for a while; yields the environment that names them.

    Args:
        data_dir: made when missing.
        throwaway: faster, for data that need not survive a crash; external servers are left alone.

    Raises:
        StackError: they do not come up.
    """
    options = ["--data-dir", str(data_dir), *(["--throwaway"] if throwaway else [])]
    process = subprocess.Popen(
        services.python("-m", "xceweb.stack.embedded", *options),
        env={**os.environ, "PYTHONPATH": str(privileges.PROJECT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=children.before_exec(signal.SIGTERM),
    )
    try:
        yield _read_environment(process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def _read_environment(process: subprocess.Popen[str]) -> dict[str, str]:
    env: dict[str, str] = {}
    for line in process.stdout or ():
        if not line.strip():
            return env
        name, _, value = line.rstrip("\n").partition("=")
        env[name] = value
    message = process.stderr.read().strip() if process.stderr else ""
    raise errors.StackError(message.removeprefix("error: ") or "the embedded servers ended at once")


def main() -> int:
    """Run the embedded servers, where none is external, until Ctrl-C; prints the environment."""
    parser = argparse.ArgumentParser(prog="python -m xceweb.stack.embedded", description=main.__doc__)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True, help="made when missing")
    parser.add_argument(
        "--throwaway", action="store_true", help="faster, for data that need not survive a crash"
    )
    options = parser.parse_args()
    account = accounts.choose()
    directory = datadir.open_at(options.data_dir, account)
    held = datadir.lock(directory)
    privileges.enter(directory.root, account)
    settings = ("fsync=off", "synchronous_commit=off", "full_page_writes=off") if options.throwaway else ()
    environ = {} if options.throwaway else os.environ
    backing = choose(directory, account, environ=environ, database_settings=settings)
    watch = supervisor.Supervisor(lambda line: None, directory.root / "log")
    try:
        for service in backing.services:
            watch.start(service)
        waiting.announce_and_wait([*(f"{name}={value}" for name, value in backing.env.items()), ""])
    finally:
        watch.stop()
        os.close(held)
    return 0


if __name__ == "__main__":
    errors.run(main)
