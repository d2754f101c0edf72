"""
The output of a run: its last lines, and pages of the whole. A middle cut out by the limit is said, not shown.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib

TAIL_BYTES = 8192


@dataclasses.dataclass(frozen=True)
class Page:
    """A piece of output: text, first byte after it, size of the whole now."""

    data: str
    next_offset: int
    size: int

    @property
    def is_last(self) -> bool:
        """Whether the piece reaches the end of what there is now."""
        return self.next_offset >= self.size


def size(path: pathlib.Path) -> int:
    """Return the bytes written so far, cut ones included; 0 when there is no output."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_page(path: pathlib.Path, *, offset: int, limit: int) -> Page:
    """
    Read a page.

    Args:
        path: of the output file; a missing one is empty.
        offset: first byte, any value >= 0.
        limit: most bytes, >= 1.

    Returns:
        Text cut between characters; bytes that are no UTF-8 as U+FFFD; a hole as one line that says how much
        is gone.
    """
    whole = size(path)
    if offset >= whole:
        return Page("", whole, whole)
    with path.open("rb") as file:
        start = _seek(file.fileno(), offset, os.SEEK_DATA, whole)
        if start > offset:
            return Page(f"\n[{start - offset} bytes left out: output limit]\n", start, whole)
        end = min(offset + limit, _seek(file.fileno(), offset, os.SEEK_HOLE, whole))
        data = os.pread(file.fileno(), end - offset, offset)
    if len(data) == limit:
        data = data[: -_unfinished(data) or None]
    return Page(data.decode(errors="replace"), offset + len(data), whole)


def read_tail(path: pathlib.Path) -> Page:
    """Read the last lines, at most 8 KiB; begins at a line where there is one."""
    start = max(0, size(path) - TAIL_BYTES)
    page = read_page(path, offset=start, limit=TAIL_BYTES)
    _, newline, rest = page.data.partition("\n")
    return dataclasses.replace(page, data=rest) if start and newline and rest else page


def _seek(descriptor: int, offset: int, how: int, whole: int) -> int:
    try:
        return os.lseek(descriptor, offset, how)
    except OSError:
        return whole


def _unfinished(data: bytes) -> int:
    """Return how many bytes at the end begin a character without finishing it (0 to 3)."""
    for back in range(1, min(4, len(data))):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if needed > back else 0
        if byte < 0x80:
            return 0
    return 0
