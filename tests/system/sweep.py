"""
Every process of a session against every session: none without the other.

What the database says of an end is written after its proof, so a process of a session that had ended before the look is
a fault at once. All else may be on its way and gets time.
"""

from __future__ import annotations

import os
import pathlib
import re

import psycopg

from tests.system import stack as stacks

_ID = re.compile(rb"(?:^|\0)XCE_SESSION_ID=([0-9a-f-]{36})(?:\0|$)")
_STATES = "SELECT public_id::text, state || ' ' || state_version FROM scheduler_session"
DEADLINE_S = 90


def check(stack: stacks.Stack) -> None:
    """
    Look until processes and sessions of a stack agree.

    Raises:
        AssertionError: a process of a session that has ended; or, until the deadline, another disagreement.
    """
    last: list[str] = []

    def agrees() -> bool:
        last[:] = faults(stack)
        return not last

    try:
        stacks.until(agrees, what="processes and sessions that agree", deadline_s=DEADLINE_S)
    except AssertionError as fault:
        raise AssertionError("; ".join(last) or str(fault)) from None


def faults(stack: stacks.Stack) -> list[str]:
    """
    Return what disagrees now.

    Raises:
        AssertionError: a process of a session that has ended.
    """
    with psycopg.connect(stack.env["DATABASE_URL"], autocommit=True) as database:
        before = dict(database.execute(_STATES).fetchall())
        found = processes(stack.data_dir)
        after = dict(database.execute(_STATES).fetchall())
    ended = {session for session, state in before.items() if state.startswith("terminated")}
    assert {session: found[session] for session in ended & found.keys()} == {}, "processes of ended sessions"
    return compare({s: state for s, state in before.items() if after.get(s) == state}, found)


def compare(steady: dict[str, str], found: dict[str, list[int]]) -> list[str]:
    """Return the disagreements between sessions that did not change meanwhile and the processes found."""
    said = []
    for session, state in sorted(steady.items()):
        word = state.partition(" ")[0]
        if word in ("running", "suspended") and session not in found:
            said.append(f"session {session} is {word} and has no process")
        if word == "pending" and session in found:
            said.append(f"session {session} waits and has processes {found[session]}")
    return said


def processes(data_dir: pathlib.Path) -> dict[str, list[int]]:
    """Return session -> its living processes, of the agents that work below a data directory."""
    found: dict[str, list[int]] = {}
    for entry in pathlib.Path("/proc").iterdir():
        words = stacks.read(entry / "environ") if entry.name.isdigit() else b""
        match = _ID.search(words)
        if match and os.fsencode(data_dir) in words and stacks.is_alive(int(entry.name)):
            found.setdefault(match[1].decode(), []).append(int(entry.name))
    return found
