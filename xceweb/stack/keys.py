"""
The secrets of one data directory: generated once, kept in `secrets.json` with mode 0600.

They reach the processes as environment variables and reach no log and no command line.
"""

import dataclasses
import json
import os
import pathlib
import secrets

from xceweb.stack import errors


@dataclasses.dataclass(frozen=True)
class Keys:
    """Secrets of one installation, each at least 192 bits."""

    #: Django's SECRET_KEY.
    secret_key: str
    #: Password of the database role `xce`, which owns the schema.
    database_password: str
    #: Password of the superuser of the embedded PostgreSQL.
    database_admin_password: str
    #: Password of the embedded Valkey.
    redis_password: str


def generate() -> Keys:
    """Make new secrets; nothing is written."""
    return Keys(secrets.token_urlsafe(50), *(secrets.token_urlsafe(24) for _ in range(3)))


def load(data_dir: pathlib.Path) -> Keys:
    """
    Return the secrets of a data directory; the first call makes and stores them.

    Args:
        data_dir: an existing directory that only its owner may read.

    Raises:
        StackError: `secrets.json` cannot be read or lacks a secret.
    """
    path = data_dir / "secrets.json"
    if not path.exists():
        write_private(path, json.dumps(dataclasses.asdict(generate()), indent=2))
    try:
        return Keys(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise errors.StackError(
            f"cannot use {path} ({error}); restore it or move the data directory away"
        ) from None


def write_private(path: pathlib.Path, text: str) -> None:
    """Write a file whole or not at all, readable by its owner alone."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
