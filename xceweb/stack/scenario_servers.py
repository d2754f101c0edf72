"""
The servers that `bin/manage scenario FILE` needs where no stack runs: none for pictures, throwaway ones for stories.

A file of pictures is decided by the core alone. A story is played in a database that is made for it; where no stack
runs, the whole server is, in a temporary directory: the data directory is neither made nor opened.
"""

import argparse
import contextlib
import pathlib
import secrets
import tempfile
from collections.abc import Iterator, Sequence

from scheduler.scenarios import errors, reading
from xceweb.stack import embedded

#: What the settings ask for, where nothing is asked of a server. Nothing answers there.
_NO_SERVERS = {
    "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:9/none",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "BROKER_URL": "memory://",
}


def is_meant(arguments: Sequence[str]) -> bool:
    """Say whether these arguments run a file of scenarios; writing a stored decision needs the real database."""
    if list(arguments[:1]) != ["scenario"]:
        return False
    asked = _parsed(arguments)
    return asked is not None and not asked.from_decision and asked.file is not None


@contextlib.contextmanager
def running(arguments: Sequence[str]) -> Iterator[dict[str, str]]:
    """
    Yield the environment for these arguments, with servers where a case is played.

    Raises:
        StackError: they do not come up.
    """
    if not _plays(arguments):
        yield {
            "DJANGO_SETTINGS_MODULE": "xceweb.settings.local",
            "SECRET_KEY": secrets.token_urlsafe(50),
            **_NO_SERVERS,
        }
        return
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xce-scenario-")))
        yield stack.enter_context(embedded.running(directory / "data", throwaway=True))


def _plays(arguments: Sequence[str]) -> bool:
    """Say whether one of the chosen cases is played; a file that cannot be read is refused without servers."""
    asked = _parsed(arguments)
    assert asked is not None
    try:
        cases = reading.read(asked.file)
    except errors.BadScenario:
        return False
    return any(case.is_played for case in cases if not asked.case or case.id in asked.case)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace | None:
    """Return what the command will read from its arguments; None where it will refuse or only help."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=True, exit_on_error=False)
    parser.add_argument("file", type=pathlib.Path, nargs="?")
    parser.add_argument("--case", action="append")
    parser.add_argument("--from-decision")
    parser.add_argument("--json", action="store_true")
    for option in ("-v", "--verbosity", "--settings", "--pythonpath"):
        parser.add_argument(option)
    try:
        found, unknown = parser.parse_known_args(list(arguments[1:]))
    except argparse.ArgumentError:
        return None
    flags = ("--traceback", "--no-color", "--force-color", "--skip-checks")
    return None if set(unknown) - set(flags) else found
