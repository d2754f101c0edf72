"""
Whose account a session runs as in multi-user mode: a table on the node that only root writes, read anew at each start.

A request never names an account. The controller names the owner, the table the account, the system its numbers
(RELIABILITY 8.2).
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import pwd
import stat

LOWEST_UID = 1000
#: Accounts that are nobody's own: services share them.
DENIED = frozenset({"root", "nobody", "nfsnobody"})


class AccountError(Exception):
    """This owner's sessions cannot run here; the text says why."""


@dataclasses.dataclass(frozen=True)
class Account:
    """One account of the system; `groups` are all its groups."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str = "/nonexistent"


def give(path: pathlib.Path, account: Account | None) -> None:
    """Make the account the owner of a file or directory; without an account nothing changes."""
    if account is not None:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


class Table:
    """The file: one JSON object, owner's name -> account's name."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path

    def account_of(self, owner: str) -> Account:
        """
        Return the account of an owner.

        Raises:
            AccountError: no such owner or account, one that is root, of the system or shared; or a table that others
                than root may write.
        """
        name = self.read().get(owner)
        if name is None:
            raise AccountError(f"no account on this node belongs to {owner or 'a session without owner'}")
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            raise AccountError(f"the account {name} of {owner} does not exist on this node") from None
        if entry.pw_uid < LOWEST_UID or name in DENIED or entry.pw_uid == os.geteuid():
            raise AccountError(f"sessions may not run as {name}, user id {entry.pw_uid}, on any node")
        groups = tuple(gid for gid in os.getgrouplist(name, entry.pw_gid) if gid)
        return Account(name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir)

    def read(self) -> dict[str, str]:
        """
        Return the table.

        Raises:
            AccountError: not readable, of another form, or writable by others than root.
        """
        try:
            with self._path.open() as file:
                status = os.fstat(file.fileno())
                table = json.load(file)
        except (OSError, ValueError) as fault:
            raise AccountError(f"cannot read the table of accounts {self._path}: {fault}") from fault
        if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise AccountError(
                f"the table of accounts {self._path} must belong to root and be writable by root alone"
            )
        if not isinstance(table, dict) or not all(isinstance(name, str) for name in table.values()):
            raise AccountError(
                f'the table of accounts {self._path} must be an object like {{"owner": "account"}}'
            )
        return table
