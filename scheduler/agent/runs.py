"""
One process life of a session, as the journal tells it, and the stop that is under way.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from scheduler.agent import processes
from scheduler.agent.journal import Entry
from scheduler.protocol import codec, fields, messages

Key = tuple[str, int]


class RunState(enum.StrEnum):
    """Where a run is, by the journal."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    SUSPENDED = "suspended"
    ENDED = "ended"


@dataclasses.dataclass
class Stop:
    """A stop or an end under way."""

    command_id: str
    is_kill: bool
    signal: int
    grace_ms: int
    suspend_grace_ms: int
    begun_ms: int
    cause: fields.EndCause
    kill_begun: bool = False

    @property
    def notice_ms(self) -> int:
        """From its warning or notice to the act, in ms."""
        return self.grace_ms if self.is_kill else self.suspend_grace_ms


@dataclasses.dataclass
class Warned:
    """The warning or notice of a stop was sent: whether the first process got it, and until when it may act on it."""

    delivered: bool
    until_ms: int


@dataclasses.dataclass
class Run:
    """One process life of a session here: from a start to its end, over any number of suspends and resumes."""

    start: messages.StartCommand
    #: Fencing number now; a resume raises it. The directory keeps that of the start.
    epoch: int
    state: RunState = RunState.STARTING
    boot: str = ""
    shepherd: processes.Identity | None = None
    job: processes.Identity | None = None
    #: Milliseconds run before `running_since_ms`, which is None while suspended or ended.
    ran_ms: int = 0
    running_since_ms: int | None = None
    stop: Stop | None = None
    #: Command id of the stop that suspended it.
    suspended_by: str = ""
    #: The resume or withdrawal under way: its command id and the epoch that comes of it.
    continuing: tuple[str, int] | None = None
    #: The warning of the stop under way, None before it was sent; that of a stop taken back counts for its grace.
    warning: Warned | None = None
    ended: messages.Ended | None = None

    @property
    def session(self) -> str:
        """UUID of the session."""
        return self.start.session

    @property
    def key(self) -> Key:
        """Session and epoch of the start: the name of its directory."""
        return self.start.session, self.start.epoch

    @property
    def is_warned(self) -> bool:
        """Whether the warning of the stop under way was delivered."""
        return self.stop is not None and self.warning is not None and self.warning.delivered

    def is_warned_at(self, now_ms: int) -> bool:
        """Whether an exit at this moment comes after a warning: of the stop under way, or of one just taken back."""
        if self.stop is not None or self.warning is None:
            return self.is_warned
        return self.warning.delivered and now_ms <= self.warning.until_ms

    def running_ms(self, now_ms: int) -> int:
        """Return the running time up to now, suspended time apart, in ms."""
        since = self.running_since_ms
        return self.ran_ms + (max(0, now_ms - since) if since is not None else 0)

    def dump(self) -> Entry:
        """Return the entry of the journal that makes this run again."""
        plain: dict[str, Any] = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        plain["start"] = codec.encode(self.start)
        plain["ended"] = self.ended and codec.encode(self.ended)
        for name in ("stop", "warning"):
            plain[name] = plain[name] and dataclasses.asdict(plain[name])
        for name in ("shepherd", "job"):
            plain[name] = plain[name] and [plain[name].pid, plain[name].start_time]
        return {"kind": "run", "run": plain}


def restore(entry: Entry) -> Run:
    """Return the run of such an entry; an agent of before the `warning` wrote `warned`, and had sent it in any case."""
    plain = dict(entry["run"])
    start, was_warned = codec.decode(plain.pop("start")), plain.pop("warned", None)
    assert isinstance(start, messages.StartCommand)
    run = Run(start=start, **plain)
    run.state = RunState(run.state)
    run.shepherd = processes.Identity(*plain["shepherd"]) if plain["shepherd"] else None
    run.job = processes.Identity(*plain["job"]) if plain["job"] else None
    run.stop = a_stop(plain["stop"]) if plain["stop"] else None
    run.continuing = tuple(plain["continuing"]) if plain.get("continuing") else None
    run.warning = a_warning(plain.get("warning"))
    if was_warned is not None and run.stop is not None:
        run.warning = Warned(was_warned, run.stop.begun_ms + run.stop.notice_ms)
    ended: Any = plain["ended"] and codec.decode(plain["ended"])
    run.ended = ended
    return run


def a_stop(plain: Entry) -> Stop:
    """Return a stop from its plain values."""
    stop = Stop(**plain)
    stop.cause = fields.EndCause(stop.cause)
    return stop


def a_warning(plain: Entry | None) -> Warned | None:
    """Return a warning from its plain values."""
    return Warned(**plain) if plain else None
