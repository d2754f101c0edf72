"""The log-ins that a first start makes: generated once, kept in one private file of the data directory."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import secrets

#: no letters or digits that look alike: people type these from a terminal
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _GROUP_LENGTH = 4, 4


@dataclasses.dataclass(frozen=True, slots=True)
class Login:
    """What one person needs to know to log in."""

    username: str
    password: str
    role: str
    note: str


class Logins:
    """The file `logins.json`, mode 0600; every change is written whole before this returns."""

    def __init__(self, directory: pathlib.Path) -> None:
        """Read the log-ins of a data directory; there may be none yet."""
        self.path = directory / "logins.json"
        rows = json.loads(self.path.read_text()) if self.path.exists() else []
        self._by_name = {row["username"]: Login(**row) for row in rows}

    def all(self) -> list[Login]:
        """Return the log-ins in the order in which they were made."""
        return list(self._by_name.values())

    def password_for(self, username: str, *, role: str, note: str) -> str:
        """
        Return the password of a person who is about to be created.

        It is on disk before the person is in the database, so that a crash in between loses no password.
        """
        if username not in self._by_name:
            self._by_name[username] = Login(username, new_password(), role, note)
            self._write()
        return self._by_name[username].password

    def _write(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w") as file:
            json.dump([dataclasses.asdict(login) for login in self.all()], file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)


def new_password() -> str:
    """Return a password of 79 random bits in groups that can be typed."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP_LENGTH)) for _ in range(_GROUPS))
