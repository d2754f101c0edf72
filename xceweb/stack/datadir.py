"""The data directory of one installation: its layout, its lock, and whether it can be used at all."""

import dataclasses
import fcntl
import json
import os
import pathlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from xceweb.stack import accounts, errors, keys

#: A first start writes about 60 MB of databases.
ROOM_BYTES = 128 * 1024 * 1024
#: Not for the account that sessions run as.
PRIVATE = frozenset({"secrets.json", "run.json", "lock", "logins.json"})


@dataclasses.dataclass(frozen=True)
class DataDir:
    """Paths of one installation; `root` is absolute."""

    root: pathlib.Path

    @property
    def run_file(self) -> pathlib.Path:
        """Facts of the running stack: process ids, URL, environment; private."""
        return self.root / "run.json"

    @property
    def logins_file(self) -> pathlib.Path:
        """Log-ins made at the first start; private."""
        return self.root / "logins.json"

    def keep_logins(self) -> None:
        """Take the log-ins from the account that wrote them, which sessions run as; only root can, and needs to."""
        if os.geteuid() == 0 and self.logins_file.exists():
            os.chown(self.logins_file, 0, 0, follow_symlinks=False)

    @property
    def agents(self) -> pathlib.Path:
        """One directory per node that runs here: its key and its agent's state."""
        return self.root / "agents"

    def log(self, name: str) -> pathlib.Path:
        """Return the log file of one process."""
        return self.root / "log" / f"{name}.log"

    def read(self, path: pathlib.Path) -> Any:
        """Return the content of one JSON file, None where there is none."""
        try:
            return json.loads(path.read_text())
        except FileNotFoundError:
            return None
        except ValueError:
            raise errors.StackError(f"{path} is damaged: it holds no JSON") from None


def open_at(path: pathlib.Path, account: accounts.Account | None) -> DataDir:
    """
    Make a data directory usable: there, private, owned by the account, with room.

    Raises:
        StackError: it cannot be made, read or written, or is full.
    """
    root = path.expanduser().resolve()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.listdir(root)
        _check_room(root)
        for name in ("log", "agents", "home"):
            (root / name).mkdir(mode=0o700, exist_ok=True)
        accounts.give_tree(root, account, private=PRIVATE)
    except OSError as error:
        message = (
            f"the data directory {root} cannot be used: {error.strerror}; choose another with --data-dir"
        )
        raise errors.StackError(message) from None
    return DataDir(root)


def lock(directory: DataDir) -> int:
    """
    Take the lock of a data directory until this process ends; returns its descriptor.

    Raises:
        StackError: a running stack holds it.
    """
    descriptor = os.open(directory.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        run = directory.read(directory.run_file)
        where = f"at {run['url']} (pid {run['pid']})" if run else "(it is starting or stopping)"
        raise errors.StackError(f"this data directory already runs {where}") from None
    return descriptor


def is_locked(directory: DataDir) -> bool:
    """Say whether a stack runs on this data directory, or is about to."""
    try:
        descriptor = os.open(directory.root / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def write_run_file(
    directory: DataDir,
    *,
    url: str,
    env: Mapping[str, str],
    processes: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """
    Record the running stack for `bin/manage` and for a second start.

    Args:
        env: names the database, the broker and their secrets.
        processes: name -> process id of what runs.
    """
    facts = {"pid": os.getpid(), "url": url, "processes": dict(processes), "env": dict(env)}
    keys.write_private(directory.run_file, json.dumps(facts, indent=2))


def _check_room(root: pathlib.Path) -> None:
    probe = root / ".room"
    descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        if not (root / "postgres").exists():
            os.posix_fallocate(descriptor, 0, ROOM_BYTES)
        os.write(descriptor, bytes(65536))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
        probe.unlink()
