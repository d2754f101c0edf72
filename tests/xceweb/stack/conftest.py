"""Directories that the unprivileged account can reach, also when the tests run as root."""

import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

import pytest

from xceweb.stack import accounts, privileges


@pytest.fixture(autouse=True)
def _programs_find_the_project(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(privileges.PROJECT))


@pytest.fixture
def account() -> accounts.Account | None:
    """The account that servers run as: `nobody` when the tests run as root, else their own."""
    return accounts.choose()


@pytest.fixture
def open_dir(account) -> Iterator[pathlib.Path]:
    """A directory of the account outside pytest's own, which is closed to it."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="xce-stack-"))
    accounts.give(path, account)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def only_root() -> None:
    """Leaves out what only root can do."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
