"""Rotation of the logs by size, without the help of the processes that write them."""

import os
import pathlib
import shutil

LIMIT_BYTES = 10 * 1024 * 1024
KEPT = 3


def rotate(directory: pathlib.Path, *, limit_bytes: int = LIMIT_BYTES) -> list[str]:
    """
    Copy every log above the limit aside and empty it; the writers append and go on.

    Args:
        directory: holds `NAME.log`; the copies are `NAME.log.1` (newest) to `NAME.log.3`.
        limit_bytes: size above which a log is rotated.

    Returns:
        Names of the rotated logs. Lines written between copy and emptying are lost.
    """
    rotated = [log for log in sorted(directory.glob("*.log")) if log.stat().st_size > limit_bytes]
    for log in rotated:
        _shift(log)
        shutil.copy2(log, _numbered(log, 1))
        os.truncate(log, 0)
    return [log.name for log in rotated]


def _shift(log: pathlib.Path) -> None:
    for number in range(KEPT - 1, 0, -1):
        if _numbered(log, number).exists():
            _numbered(log, number).replace(_numbered(log, number + 1))


def _numbered(log: pathlib.Path, number: int) -> pathlib.Path:
    return log.with_name(f"{log.name}.{number}")
