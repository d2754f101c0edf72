"""
Under which account the stack's processes run: never root.

An ordinary user runs everything as itself. Root hands every process to an unprivileged account: `nobody`, or
the one that XCE_RUN_AS names.
"""

import dataclasses
import os
import pathlib
import pwd
import stat
from typing import Any

from xceweb.stack import errors


@dataclasses.dataclass(frozen=True)
class Account:
    """An unprivileged account that root gives to every process it starts."""

    name: str
    uid: int
    gid: int


def choose() -> Account | None:
    """
    Return the account to run as, or None when this process is not root and runs all as itself.

    Raises:
        StackError: XCE_RUN_AS names no account, or one that is root.
    """
    if os.geteuid() != 0:
        return None
    name = os.environ.get("XCE_RUN_AS", "nobody")
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise errors.StackError(f"there is no account {name!r}; set XCE_RUN_AS to one that exists") from None
    if entry.pw_uid == 0:
        raise errors.StackError("XCE_RUN_AS is root; set it to an account without rights")
    return Account(name, entry.pw_uid, entry.pw_gid)


def popen_arguments(account: Account | None) -> dict[str, Any]:
    """Return the arguments of `subprocess` that drop every right of root; none without an account."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def give(path: pathlib.Path, account: Account | None) -> None:
    """Make the account the owner of one file or directory; without an account nothing changes."""
    if account is not None:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def give_tree(path: pathlib.Path, account: Account | None, *, private: frozenset[str] = frozenset()) -> None:
    """
    Make the account the owner of a directory and of all that it holds.

    Processes of the account may change the tree meanwhile: entries are reached through directory descriptors,
    so that no link leads out of it, and a file with a second name stays as it is.

    Args:
        private: names of entries directly below the path that stay with their owner.
    """
    if account is None:
        return
    give(path, account)
    for directory, names, files, descriptor in os.fwalk(path, follow_symlinks=False):
        kept = private if pathlib.Path(directory) == path else frozenset()
        for name in {*names, *files} - kept:
            _give_entry(name, descriptor, account)


def _give_entry(name: str, descriptor: int, account: Account) -> None:
    status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    is_single = stat.S_ISDIR(status.st_mode) or status.st_nlink == 1
    if status.st_uid != account.uid and is_single:
        os.chown(name, account.uid, account.gid, dir_fd=descriptor, follow_symlinks=False)
