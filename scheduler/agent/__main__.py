"""
`python -m scheduler.agent`: arguments, lock, key, fork server, and only then everything with threads.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import logging.config
import os
import pathlib
import signal
import sys

from scheduler import logs
from scheduler.agent import (
    accounts,
    journal,
    keyring,
    limits,
    loop,
    memory,
    processes,
    spawner,
    starting,
    workspace,
)
from scheduler.agent.stop import freezer
from scheduler.protocol import signing


class UsageError(Exception):
    """The agent cannot start; the text says what to do."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m scheduler.agent", description="Run sessions on this node."
    )
    parser.add_argument("--node", required=True, help="name of the node, as enrolled")
    parser.add_argument(
        "--broker",
        default=os.environ.get("BROKER_URL"),
        help="URL of the broker; better in BROKER_URL: everybody on the machine can read command lines",
    )
    parser.add_argument(
        "--key-file", required=True, type=pathlib.Path, help="what agent_enroll wrote, mode 0600"
    )
    parser.add_argument(
        "--state-dir", required=True, type=pathlib.Path, help="journal, sessions, checkpoints"
    )
    parser.add_argument(
        "--heartbeat", type=float, default=5.0, metavar="S", help="seconds between heartbeats"
    )
    parser.add_argument(
        "--retention", type=float, default=loop.RETENTION_S, metavar="S", help="seconds that output is kept"
    )
    parser.add_argument(
        "--stop-method",
        choices=("auto", "signals", "freezer"),
        default="auto",
        help="auto: freezer if delegated",
    )
    _add_limits(parser)
    _add_logging(parser)
    parser.add_argument(
        "--accounts",
        type=pathlib.Path,
        metavar="FILE",
        help="multi-user mode, needs root: JSON object owner -> account of this node, writable by root alone",
    )
    parser.add_argument(
        "--allow-root",
        action="store_true",
        help="for tests on throw-away machines: sessions run as root, too",
    )
    options = parser.parse_args(arguments)
    if not options.broker:
        parser.error("set BROKER_URL, or give --broker")
    return options


def _add_logging(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log-level", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    parser.add_argument(
        "--log-json",
        action=argparse.BooleanOptionalAction,
        default=os.environ.get("XCE_LOG_JSON", "").lower() in ("1", "true", "yes", "on"),
        help="one JSON object a log line; default XCE_LOG_JSON",
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-processes",
        type=int,
        default=limits.Limits.processes,
        metavar="N",
        help="processes and threads that a session's account may have at once",
    )
    parser.add_argument(
        "--max-files",
        type=int,
        default=limits.Limits.files,
        metavar="N",
        help="files that one process of a session may have open",
    )


def main(arguments: list[str]) -> int:
    """Run an agent until it is told to end. Returns the exit code."""
    options = parse(arguments)
    os.umask(0o077)
    quiet = {"celery.worker.strategy": "WARNING", "celery.app.trace": "WARNING"}
    logging.config.dictConfig(logs.config(is_json=options.log_json, level=options.log_level, levels=quiet))
    try:
        table = _check_user(options)
        key = keyring.read(options.key_file, node=options.node)
        space = workspace.Workspace(options.state_dir, options.node, multi_user=table is not None)
        lock = _lock(space.root / "lock")
        _run(options, key, space, table)
    except (UsageError, keyring.KeyFileError, OSError, journal.JournalError, accounts.AccountError) as fault:
        print(f"agent: {fault}", file=sys.stderr)
        return 1
    os.close(lock)
    return 0


def _run(
    options: argparse.Namespace,
    key: signing.NodeKey,
    space: workspace.Workspace,
    table: accounts.Table | None,
) -> None:
    forks = spawner.Spawner()
    store = memory.Memory(journal.Journal(space.root / "journal"), boot=processes.boot_id())
    store.load()
    bounds = limits.Limits(processes=options.max_processes, files=options.max_files)
    root = _cgroup_root(options.stop_method)
    if root is not None:
        freezer.settle(root)
    means = starting.Means(store, space, forks, cgroup_root=root, limits=bounds, table=table)

    from scheduler.agent import app  # after the fork server: Celery starts threads

    async def work() -> None:
        how = loop.Options(
            key, options.key_file, heartbeat_s=options.heartbeat, retention_s=options.retention
        )
        agent = loop.Agent(means, how)
        carrier = app.Transport(
            options.broker, options.node, on_command=agent.on_command, on_connected=agent.on_connected
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, agent.stop)
        await agent.run(carrier)

    try:
        asyncio.run(work())
    finally:
        store.close()
        forks.close()


def _check_user(options: argparse.Namespace) -> accounts.Table | None:
    """Return the table of accounts, None in single-user mode; sessions are root in neither."""
    if options.accounts is not None:
        if os.geteuid() != 0:
            raise UsageError("--accounts needs root: only root can start sessions as other accounts")
        table = accounts.Table(options.accounts)
        table.read()
        return table
    if os.geteuid() == 0 and not options.allow_root:
        raise UsageError(
            "refusing to run as root, because sessions would be root, too; start the agent as an ordinary"
            " user: setpriv --reuid nobody --regid nogroup --clear-groups python -m scheduler.agent ...,"
            " or name the owners' accounts with --accounts"
        )
    return None


def _lock(path: pathlib.Path) -> int:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(
            f"another agent works in {path.parent}; give each node a state directory of its own"
        ) from None
    return descriptor


def _cgroup_root(method: str) -> pathlib.Path | None:
    root = freezer.delegated_root() if method != "signals" else None
    if method == "freezer" and root is None:
        raise UsageError("no cgroup v2 directory is delegated to this user; use --stop-method signals")
    return root


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
