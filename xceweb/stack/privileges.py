"""
Lets the unprivileged account reach what it must run, when root keeps it in closed directories.

Python may live in `/root` (0700) and a checkout in a directory of `mktemp -d` (0700): the account could not
even start the interpreter. Root then gives itself and its children a private view of the file system: over
each closed directory an empty one is laid, and only the needed directories are bound back into it, at the
same paths. The machine's own view is unchanged, and the rest of the closed directory is not exposed to
anybody.
"""

import ctypes
import os
import pathlib
import stat
import subprocess
import sys
from collections.abc import Iterable, Sequence

from xceweb.stack import accounts, errors

CLONE_NEWNS = 0x00020000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
PROJECT = pathlib.Path(__file__).resolve().parents[2]
#: Loading these needs the interpreter, the packages and the project.
PROBE = "import django, psycopg, redis, xceweb.stack; open(xceweb.stack.__file__).close()"


def enter(data_dir: pathlib.Path, account: accounts.Account | None) -> None:
    """
    Make interpreter, packages, project and data directory reachable for the account.

    Changes nothing without an account, or where all is reachable already; otherwise this process and those
    that it starts from now on live in a private mount namespace.

    Raises:
        StackError: the kernel refuses, or the account still cannot load the application.
    """
    if account is None:
        return
    needed = [*interpreter_directories(), PROJECT, data_dir]
    if closed_directory(needed, account):
        _become_private()
        _open_all(needed, account)
    _check(account)


def interpreter_directories() -> list[pathlib.Path]:
    """Return the directories of the interpreter and of its packages, without doubles, resolved."""
    executables = [pathlib.Path(sys.executable), pathlib.Path(sys.executable).resolve()]
    prefixes = [sys.prefix, sys.base_prefix, *(path.parent for path in executables)]
    return sorted({pathlib.Path(prefix).resolve() for prefix in prefixes})


def closed_directory(needed: Iterable[pathlib.Path], account: accounts.Account) -> pathlib.Path | None:
    """
    Return the first directory on the way to the needed ones that the account may not enter.

    Returns:
        A directory nearest the root; None when all are reachable.
    """
    for path in needed:
        for directory in [*reversed(path.parents), path]:
            if not may_enter(directory, account):
                return directory
    return None


def may_enter(directory: pathlib.Path, account: accounts.Account) -> bool:
    """Say whether the account may list and pass a directory, by its mode bits."""
    status = directory.stat()
    read_and_pass = stat.S_IROTH | stat.S_IXOTH
    if status.st_uid == account.uid:
        read_and_pass = stat.S_IRUSR | stat.S_IXUSR
    elif status.st_gid == account.gid:
        read_and_pass = stat.S_IRGRP | stat.S_IXGRP
    return status.st_mode & read_and_pass == read_and_pass


def _open_all(needed: Sequence[pathlib.Path], account: accounts.Account) -> None:
    while closed := closed_directory(needed, account):
        _lay_over(closed, _to_bind(closed, needed, account))


def _to_bind(
    closed: pathlib.Path, needed: Sequence[pathlib.Path], account: accounts.Account
) -> list[pathlib.Path]:
    """Return what to show again below a closed directory: needed paths, of closed ones all children."""
    shown: list[pathlib.Path] = []
    for path in sorted(path for path in needed if path.is_relative_to(closed)):
        if any(path.is_relative_to(outer) for outer in shown):
            continue
        shown += [path] if may_enter(path, account) else sorted(path.iterdir())
    return shown


def _lay_over(closed: pathlib.Path, shown: Sequence[pathlib.Path]) -> None:
    links = {path: path.readlink() for path in shown if path.is_symlink()}
    held = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in shown if path not in links}
    directories = {path for path in held if path.is_dir()}
    _mount("tmpfs", closed, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=4m")
    for path, descriptor in held.items():
        _make_place(path, is_directory=path in directories)
        _mount(f"/proc/self/fd/{descriptor}", path, None, MS_BIND | MS_REC, None)
        os.close(descriptor)
    for path, target in links.items():
        path.symlink_to(target)


def _make_place(path: pathlib.Path, *, is_directory: bool) -> None:
    previous = os.umask(0o022)
    try:
        (path if is_directory else path.parent).mkdir(parents=True, exist_ok=True)
        if not is_directory:
            path.touch()
    finally:
        os.umask(previous)


def _become_private() -> None:
    if _libc().unshare(CLONE_NEWNS) != 0:
        raise errors.StackError(
            "the account that sessions run as cannot reach Python or this checkout, and the kernel refuses a"
            " private view: start as an ordinary user, or move both out of closed directories such as /root"
        )
    _mount("none", pathlib.Path("/"), None, MS_REC | MS_PRIVATE, None)


def _mount(source: str, target: pathlib.Path, kind: str | None, flags: int, options: str | None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    if _libc().mount(*words, ctypes.c_ulong(flags), None if options is None else options.encode()) != 0:
        number = ctypes.get_errno()
        raise errors.StackError(f"cannot show {target} to the account ({os.strerror(number)})")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(account: accounts.Account) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE],
        cwd="/",
        env={"PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        **accounts.popen_arguments(account),
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise errors.StackError(
            f"account {account.name} cannot load the application ({reason}):"
            f" make {PROJECT} readable (chmod -R go+rX) or start as an ordinary user"
        )
