"""An account that nothing else on the machine uses, a place that it can reach, and a Python that it can run."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Iterator

import pytest

from scheduler.agent import accounts

UID = 54_321
GROUPS = (54_330, 54_331)
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another account")


def account(uid: int = UID) -> accounts.Account:
    """Return an account; it needs no entry in the system's table of accounts."""
    return accounts.Account(f"stranger-{uid}", uid, uid, GROUPS)


class Table(accounts.Table):
    """Gives every owner the same account."""

    def __init__(self, uid: int = UID) -> None:
        super().__init__(pathlib.Path("/nonexistent"))
        self._uid = uid

    def account_of(self, owner: str) -> accounts.Account:
        """Return the account, whoever asks."""
        return account(self._uid)


def python() -> str:
    """Return a Python that any account can run."""
    for path in (sys.executable, "/usr/bin/python3"):
        real = pathlib.Path(path).resolve()
        if real.exists() and all(parent.stat().st_mode & 0o001 for parent in (real, *real.parents)):
            return str(real)
    return pytest.skip("no Python on this machine can be run by another account")


@contextlib.contextmanager
def public_place() -> Iterator[pathlib.Path]:
    """Make a directory that any account can pass through."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="xce-public-"))
    try:
        place.chmod(0o711)
        yield place
    finally:
        shutil.rmtree(place)
