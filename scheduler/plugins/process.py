"""
One worker process of a foreign policy, seen from outside: start, one line out and one back by a deadline, kill.

It leads a session of its own, so that whatever it starts goes with it; it inherits neither environment nor descriptors.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from scheduler.core.preemption import policy
from scheduler.plugins import catalog, wire

_PROJECT = pathlib.Path(__file__).resolve().parents[2]
_WORKER = pathlib.Path(__file__).with_name("worker.py")
_BLOCK = 65_536
#: All that a worker has of an environment: what it computes must depend on the question alone.
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """What a foreign policy may take."""

    start_s: float = 5.0  #: from its start until the policy is imported
    answer_s: float = 1.0  #: for one answer
    round_s: float = 6.0  #: of one round, over all its foreign policies, starts included
    answer_bytes: int = 262_144  #: about 13,000 session ids
    memory_bytes: int = 1 << 30  #: of address space
    times_late: int = 3  #: in a row, until it is not asked for a while
    rest_s: float = 60.0  #: that while; after it one question decides
    clock: Callable[[], float] = time.monotonic


class TooLate(policy.PolicyFailed):
    """A policy let its time pass."""


class Process:
    """A policy's process. ``start`` and ``ask`` raise ``PolicyFailed``; it is of no use any more then."""

    def __init__(self, found: catalog.Found, limits: Limits) -> None:
        self.found = found
        self._limits = limits
        self._number = 0
        self._popen = subprocess.Popen(
            [sys.executable, "-s", "-P", "-B", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env=_ENVIRONMENT,
            start_new_session=True,
        )
        pipes = self._popen.stdin, self._popen.stdout
        self._to, self._from = (pipe.fileno() for pipe in pipes if pipe)
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)

    @property
    def pid(self) -> int:
        """Return the worker's process id; its process group has the same."""
        return self._popen.pid

    def start(self, *, within_s: float) -> None:
        """Have the policy imported."""
        hello = {
            "path": [os.path.abspath(each) for each in sys.path] + [str(_PROJECT)],
            "target": self.found.target,
            "memory_bytes": self._limits.memory_bytes,
            "give_up_s": 2 * (self._limits.start_s + self._limits.answer_s),
        }
        message = wire.read(self._exchange(wire.line(hello), within_s=within_s, verb="start"))
        if message.get("ready") is not True:
            raise policy.PolicyFailed(f"could not be loaded: {wire.class_name(message.get('error'))}")

    def ask(self, problem: policy.Problem, *, within_s: float) -> policy.Answer | None:
        """Return the policy's answer."""
        self._number += 1
        text = wire.question(self._number, problem)
        return wire.answer(self._exchange(text, within_s=within_s, verb="answer"), number=self._number)

    def kill(self) -> None:
        """End the process and all of its group, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # Before it is waited for: until then nobody else has its number.
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        self.forget()

    def forget(self) -> None:
        """Close the pipes; a worker that reads none ends by itself."""
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe:
                pipe.close()

    def disown(self) -> None:
        """In a forked child: let go of a worker that is the parent's."""
        self.forget()
        self._popen.returncode = 0

    def _exchange(self, text: bytes, *, within_s: float, verb: str) -> bytes:
        until = self._limits.clock() + within_s
        unsent, got = memoryview(text), bytearray()
        with selectors.DefaultSelector() as pipes:
            pipes.register(self._from, selectors.EVENT_READ)
            pipes.register(self._to, selectors.EVENT_WRITE)
            while not got.endswith(b"\n"):
                ready = {key.fd for key, _ in pipes.select(max(0.0, until - self._limits.clock()))}
                if not ready or self._limits.clock() > until:
                    raise TooLate(self._too_late(verb, within_s))
                unsent = self._send(unsent, pipes) if self._to in ready else unsent
                got += self._receive(len(got)) if self._from in ready else b""
        return bytes(got)

    def _send(self, unsent: memoryview, pipes: selectors.BaseSelector) -> memoryview:
        """Write what fits; return the rest. Once there is none, the pipe is waited for no more."""
        rest = unsent[self._write(unsent) :]
        if not rest:
            pipes.unregister(self._to)
        return rest

    def _too_late(self, verb: str, within_s: float) -> str:
        own_s = {"start": self._limits.start_s, "answer": self._limits.answer_s}[verb]
        if within_s >= own_s:
            return f"did not {verb} within {own_s:g} s"
        return (
            f"did not {verb} within what was left of the {self._limits.round_s:g} s for policies in one round"
        )

    def _write(self, unsent: memoryview) -> int:
        try:
            return os.write(self._to, unsent[:_BLOCK])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise policy.PolicyFailed(_ENDED) from None

    def _receive(self, known: int) -> bytes:
        """Read on. Bytes behind the line are nobody's answer: with them it is malformed."""
        block = os.read(self._from, _BLOCK)
        if not block:
            raise policy.PolicyFailed(_ENDED)
        if known + len(block) > self._limits.answer_bytes:
            raise policy.PolicyFailed(f"gave an answer of more than {self._limits.answer_bytes:,} bytes")
        return block


_ENDED = "ended instead of answering"
