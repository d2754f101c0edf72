"""How simulated agents answer."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Habits:
    """
    Seconds of virtual time from a command to its answer; None = only when the agent is told to answer.

    A stop by kill is never answered later than its grace: then the processes are killed.
    """

    start_s: int | None = 0
    stop_s: int | None = None
    suspend_s: int | None = None
    kill_s: int | None = 0
    resume_s: int | None = 0
    withdraw_s: int | None = 0
    cancel_start_s: int | None = 0


#: Starts, kills and withdrawals are answered at once, stops when the scenario says so.
SCRIPTED = Habits()
#: Everything is answered by itself.
LIVELY = Habits(start_s=1, stop_s=3, suspend_s=1, kill_s=1, resume_s=1, withdraw_s=1, cancel_start_s=1)
