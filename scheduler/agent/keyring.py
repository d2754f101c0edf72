"""The keys of this node: the one of its key file, read again when the file changes, and the one before."""

from __future__ import annotations

import json
import logging
import pathlib

from scheduler.protocol import signing

log = logging.getLogger(__name__)


class KeyFileError(Exception):
    """The key file cannot be used; the text says why."""


def read(path: pathlib.Path, *, node: str) -> signing.NodeKey:
    """
    Read a key file.

    Raises:
        KeyFileError: unreadable, of another form, or of another node.
    """
    try:
        content = json.loads(path.read_text())
        key = signing.NodeKey(content["key_id"], content["node"], bytes.fromhex(content["secret"]))
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise KeyFileError(f"cannot read the key file {path}: {fault}; write it with agent_enroll") from fault
    if key.node != node:
        raise KeyFileError(f"the key file {path} belongs to the node {key.node}, not to {node}")
    return key


class KeyRing:
    """
    What this agent signs with and accepts. A new key replaces the old one while the agent runs.

    Attributes:
        current: signs every report from now on.
    """

    def __init__(self, key: signing.NodeKey, path: pathlib.Path | None = None) -> None:
        self.current = key
        self._accepted = {key.key_id: key}
        self._path = path
        self._seen = self._stamp()

    def open(self, text: str) -> signing.Envelope:
        """
        Verify a command. The key before the present one is accepted until the controller speaks in the present one.

        Raises:
            ProtocolError: see `signing.open_envelope`.
        """
        envelope = signing.open_envelope(text, keys=self._accepted, direction="down")
        if envelope.key_id == self.current.key_id:
            self._accepted = {self.current.key_id: self.current}
        return envelope

    def refresh(self) -> bool:
        """Look whether the file has changed; returns whether there is a new key. A bad file changes nothing."""
        stamp = self._stamp()
        if self._path is None or stamp == self._seen:
            return False
        self._seen = stamp
        try:
            key = read(self._path, node=self.current.node)
        except KeyFileError as fault:
            log.warning("the key stays as it is: %s", fault)
            return False
        if key == self.current:
            return False
        self._accepted, self.current = {**self._accepted, key.key_id: key}, key
        log.info("reports are signed with the key %s from now on", key.key_id)
        return True

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat() if self._path is not None else None
        except OSError:
            return None
        return (found.st_ino, found.st_mtime_ns, found.st_size) if found is not None else None
