"""
The agent's append-only file: one JSON object a line, on disk before the agent acts on it, replayed at start.

A line that was cut by a crash is the last one and was never acted on: it is dropped. Any other damage stops
the agent, since guessing could stop or start something twice. Serves P02 and P03.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
from collections.abc import Iterable
from typing import Any

Entry = dict[str, Any]


class JournalError(Exception):
    """The journal cannot be read or written; nothing may be acted on."""


class Journal:
    """One writer, one file. The caller holds the lock of the state directory."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._file = -1
        self._size = 0
        #: Lines in the file now; grows until `rewrite`.
        self.lines = 0

    def open(self) -> list[Entry]:
        """
        Open the file, made when missing, and return its entries in order.

        Raises:
            JournalError: a line in the middle is damaged; names the line.
        """
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        _sync_directory(self._path.parent)
        text = self._path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        entries = [self._parse(number, line) for number, line in enumerate(whole.splitlines(), 1)]
        os.ftruncate(self._file, len(whole))
        self._size, self.lines = len(whole), len(entries)
        return entries

    def append(self, entry: Entry, *, sync: bool = True) -> None:
        """
        Add one entry.

        Args:
            entry: plain JSON values.
            sync: whether it must be on disk before this returns; False only where losing it is harmless.

        Raises:
            JournalError: the disk took it not or not whole; the file is as it was before.
        """
        line = _line(entry)
        try:
            if os.write(self._file, line) != len(line):
                raise OSError("the disk took only a part of a line")
            if sync:
                os.fdatasync(self._file)
        except OSError as fault:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise JournalError(f"{self._path}: {fault}; free some space, nothing was done") from fault
        self._size += len(line)
        self.lines += 1

    def rewrite(self, entries: Iterable[Entry]) -> None:
        """Replace the file by these entries, whole or not at all."""
        new = self._path.with_suffix(".new")
        descriptor = os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.writelines(_line(entry) for entry in entries)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, self._path)
        self.close()
        self.open()

    def close(self) -> None:
        """Close the file; everything in it is on disk."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _parse(self, number: int, line: bytes) -> Entry:
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            raise JournalError(
                f"{self._path}: line {number} is damaged. End the sessions of this node, move the state"
                " directory away and start the agent again"
            )
        return entry


def _line(entry: Entry) -> bytes:
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _sync_directory(path: pathlib.Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
