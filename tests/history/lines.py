"""What happened, as plain lines: what clients asked for and what they were told, and what the log of events says."""

from __future__ import annotations

import dataclasses

OK, FAILED, UNKNOWN = "ok", "failed", "unknown"


@dataclasses.dataclass(frozen=True)
class Call:
    """One thing that a client asked for. Unknown = the answer never came: it may have happened or not."""

    what: str
    session: str  #: the session's name, given by the client
    outcome: str


@dataclasses.dataclass(frozen=True)
class Told:
    """One event of a session."""

    number: int
    session: str
    type: str
    before: str = ""
    after: str = ""
    epoch: int = 0


@dataclasses.dataclass(frozen=True)
class Started:
    """One start of a session's program, as the program itself wrote it down."""

    session: str
    attempt: int
    pid: int
