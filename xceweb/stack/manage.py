"""
Runs one Django command in the environment of a data directory: `python -m xceweb.stack.manage [--data-dir DIR] ARGS`.

A running stack is used as it is; otherwise the embedded servers are started for the time of the command (for a file of
scenarios throwaway ones, or none). The command runs as the caller, so that it can read the caller's files.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

from xceweb.stack import datadir, embedded, errors, privileges, scenario_servers, services


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    place, arguments = _place(arguments)
    directory = datadir.DataDir(place.resolve())
    with _environment(directory, arguments) as env:
        argv = services.python(str(privileges.PROJECT / "manage.py"), *arguments)
        command = subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": str(privileges.PROJECT), **env})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return command.wait()


def _place(arguments: Sequence[str]) -> tuple[pathlib.Path, Sequence[str]]:
    """Return the data directory, named before the command or by XCE_DATA_DIR, and the command with its arguments."""
    match arguments:
        case ["--data-dir", directory, *rest]:
            return pathlib.Path(directory), rest
        case ["--data-dir"]:
            raise errors.StackError("--data-dir needs a directory: bin/manage --data-dir DIR COMMAND")
        case [first, *rest] if first.startswith("--data-dir="):
            return pathlib.Path(first.partition("=")[2]), rest
    return pathlib.Path(os.environ.get("XCE_DATA_DIR", privileges.PROJECT / ".xce")), arguments


def _environment(
    directory: datadir.DataDir, arguments: Sequence[str]
) -> contextlib.AbstractContextManager[dict[str, str]]:
    is_up = datadir.is_locked(directory) and directory.read(directory.run_file) is not None
    if scenario_servers.is_meant(arguments) and not is_up:
        return scenario_servers.running(arguments)
    return environment(directory)


@contextlib.contextmanager
def environment(directory: datadir.DataDir) -> Iterator[dict[str, str]]:
    """
    Yield the environment of the stack that runs on a data directory, or of servers started for this purpose.

    Raises:
        StackError: the stack is just starting or stopping, or its servers do not come up.
    """
    if not datadir.is_locked(directory):
        with embedded.running(directory.root) as env:
            yield env
        return
    run = directory.read(directory.run_file)
    if run is None:
        raise errors.StackError(
            f"the stack on {directory.root} is starting or stopping; try again in a moment"
        )
    yield run["env"]


if __name__ == "__main__":
    errors.run(lambda: main(sys.argv[1:]))
