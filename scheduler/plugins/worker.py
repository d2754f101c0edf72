"""
What runs in the process of one foreign policy: load it, then answer question after question.

Started as a program by ``process``, with an empty environment and no descriptor but its two pipes. Its limits are set
before the first line of foreign code; what that writes to its standard output goes nowhere, and a process that it
makes is found. Guards against mistakes, not against malice: see THREAT_MODEL.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import json
import os
import pathlib
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

_PR_SET_CHILD_SUBREAPER = 36
_Choose = Callable[[Any], Any]


def main() -> None:
    """Serve until the controller closes the pipe."""
    questions, answers = _take_pipes()
    hello = json.loads(questions.readline())
    sys.path[:] = hello["path"]
    from scheduler.plugins import wire  # only findable now

    _limit(hello["memory_bytes"])
    own = os.getpid()
    signal.setitimer(signal.ITIMER_REAL, hello["give_up_s"])
    loaded = _guarded(lambda: _load(hello["target"]))
    _only_here(own)
    if callable(loaded.get("result")):
        answers.write(wire.line({"ready": True}))
        _serve(loaded["result"], questions, answers, give_up_s=hello["give_up_s"])
    else:
        answers.write(wire.line({"error": loaded.get("error", "TypeError")}))


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes, and leave nothing behind the numbers that foreign code reads from and prints to."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return questions, answers


def _limit(memory_bytes: int) -> None:
    """Bound what a policy may take: memory; no files, no processes or threads (root excepted), no core dumps."""
    limits = {"RLIMIT_AS": memory_bytes, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NPROC": 0}
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))
    with contextlib.suppress(
        OSError, AttributeError
    ):  # without it only children are found, no orphans of theirs
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def _serve(choose: _Choose, questions: BinaryIO, answers: BinaryIO, *, give_up_s: float) -> None:
    from scheduler.plugins import wire

    own = os.getpid()
    signal.setitimer(signal.ITIMER_REAL, 0)
    for text in questions:
        message = json.loads(text)
        problem = wire.problem(message)
        signal.setitimer(signal.ITIMER_REAL, give_up_s)
        said = _guarded(lambda problem=problem: choose(problem))
        _only_here(own)
        said = _answered(said)
        _only_here(own)  # an iterator is foreign code, too
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(_as_line(wire, {"number": message["number"], **said}))


def _guarded(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"result": call()}
    except BaseException as error:  # noqa: BLE001 - foreign code: its class is all that is told
        return {"error": type(error).__name__}


def _only_here(own: int) -> None:
    """End a process that foreign code has forked and let run on."""
    if os.getpid() != own:
        os._exit(0)


def _answered(said: dict[str, Any]) -> dict[str, Any]:
    """Return what is told of a call: the answer in its plain form, or what is wrong with it."""
    if "error" not in said:
        plain = _guarded(lambda: None if said["result"] is None else _plain(*said["result"]))
        said = {"fault": "shape"} if "error" in plain else {"answer": plain["result"]}
    return {"fault": "processes"} if _has_children() else said


def _plain(node_id: Any, session_ids: Any) -> list[Any]:
    return [node_id, list(session_ids)]


def _has_children() -> bool:
    """Say whether foreign code left a process behind, and end those, wherever they hid: they are ours by now."""
    has_found = False
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            has_found = True
            if not pid:
                _kill_children()
    return has_found


def _kill_children() -> None:
    for task in pathlib.Path("/proc/self/task").iterdir():
        for pid in (task / "children").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def _as_line(wire: Any, message: dict[str, Any]) -> bytes:
    encoded = _guarded(lambda: wire.line(message))
    return (
        encoded["result"]
        if "result" in encoded
        else wire.line({"number": message["number"], "fault": "shape"})
    )


if __name__ == "__main__":
    main()
