"""
Starts services tier by tier, each behind its gate; restarts what dies; stops all in reverse order.

One thread, no locks: it looks at its children several times a second. What dies is started again after a
delay that doubles with every quick death and is bounded; nothing is given up.
"""

import dataclasses
import pathlib
import subprocess
import time
from collections.abc import Callable

from xceweb.stack import children, errors, logs, services, waiting

LOOK_S = 0.2
ROTATE_S = 10
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30
#: A process that ran this long has recovered: its next death counts as the first.
STEADY_S = 60
FIRST_START_TRIES = 3


@dataclasses.dataclass
class Watched:
    """One service under supervision; times are seconds of the monotonic clock."""

    service: services.Service
    process: subprocess.Popen[bytes]
    started_s: float
    tier: int = 0
    delay_s: float = FIRST_DELAY_S
    #: When it will be started again; None while it runs.
    due_s: float | None = None


class Supervisor:
    """The services that run, in the order in which they were started."""

    def __init__(self, say: Callable[[str], None], log_directory: pathlib.Path) -> None:
        """
        Args:
            say: takes one line for the terminal.
            log_directory: the logs that are rotated.
        """
        self._say = say
        self._log_directory = log_directory
        self._watched: list[Watched] = []
        self._rotate_at_s = 0.0

    def start(self, *together: services.Service) -> None:
        """
        Start some services side by side and wait for the first answer of each.

        They form one tier: tiers stop in the reverse order of their start, a tier's services at once.

        Args:
            together: at least one.

        Raises:
            StackError: one ended three times or did not answer in time.
        """
        tier = len({watched.tier for watched in self._watched})
        for service in together:
            service.server.prepare()
            self._watched.append(Watched(service, service.server.spawn(), time.monotonic(), tier))
        for watched in self._watched[-len(together) :]:
            self._bring_up(watched)

    def names(self) -> set[str]:
        """Return the names of all services, also of those that wait for their next start."""
        return {watched.service.name for watched in self._watched}

    def pids(self) -> dict[str, int]:
        """Return name -> process id of what runs now."""
        return {
            watched.service.name: watched.process.pid for watched in self._watched if watched.due_s is None
        }

    def run(self, after_look: Callable[[], None]) -> None:
        """
        Watch for ever; ended by an exception, such as the KeyboardInterrupt of a signal.

        Args:
            after_look: called after each look, several times a second.
        """
        while True:
            self.look()
            after_look()
            time.sleep(LOOK_S)

    def look(self) -> None:
        """Look once: note deaths, start again what is due, rotate logs."""
        now_s = time.monotonic()
        for watched in self._watched:
            if watched.due_s is not None:
                self._start_again(watched, now_s)
            elif watched.process.poll() is not None:
                self._note_death(watched, now_s)
        if now_s >= self._rotate_at_s:
            self._rotate_at_s = now_s + ROTATE_S
            logs.rotate(self._log_directory)

    def stop(self) -> None:
        """Stop all, the tier that started last first; returns when none is left."""
        while self._watched:
            tier = [watched for watched in self._watched if watched.tier == self._watched[-1].tier]
            for watched in tier:
                children.ask(watched.process, watched.service.stop_signal)
            for watched in tier:
                children.wait(watched.process, grace_s=watched.service.grace_s)
                self._watched.remove(watched)

    def _bring_up(self, watched: Watched) -> None:
        for left in range(FIRST_START_TRIES - 1, -1, -1):
            try:
                self._wait_for(watched)
                break
            except errors.StackError:
                if watched.process.poll() is None or not left:
                    raise
                watched.process = watched.service.server.spawn()
        self._say(f"  {watched.service.name:<16} {time.monotonic() - watched.started_s:5.1f} s")

    def _wait_for(self, watched: Watched) -> None:
        service = watched.service
        waiting.until_ready(
            service.server.is_ready,
            process=watched.process,
            log=service.server.log,
            deadline_s=service.deadline_s,
        )

    def _note_death(self, watched: Watched, now_s: float) -> None:
        if now_s - watched.started_s > STEADY_S:
            watched.delay_s = FIRST_DELAY_S
        watched.due_s = now_s + watched.delay_s
        name, code = watched.service.name, watched.process.returncode
        self._say(f"{name} died ({_cause(code)}); started again in {watched.delay_s:g} s")
        watched.delay_s = min(watched.delay_s * 2, LONGEST_DELAY_S)

    def _start_again(self, watched: Watched, now_s: float) -> None:
        if watched.due_s is not None and now_s >= watched.due_s:
            watched.process = watched.service.server.spawn()
            watched.started_s, watched.due_s = now_s, None


def _cause(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
