"""
Job shapes: small programs that behave as awkwardly as real jobs do.

Each prints `ready` once it is all set up, then lives on. `tick` appends to the file named by TICKS: a counter
that shows whether anything ran.
"""

from __future__ import annotations

import dataclasses
import sys

_COMMON = """
import ctypes, os, signal, sys, threading, time
def tick():
    with open(os.environ["TICKS"], "a") as file:
        file.write(".")
def busy():
    while True:
        tick()
def ready():
    print("ready", flush=True)
def fork(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return pid
def idle():
    while True:
        time.sleep(0.01)
        tick()
"""

_PROGRAMS = {
    "idle-sleeper": "ready(); idle()",
    "busy-loop": "ready(); busy()",
    "nine-threads": """
for _ in range(8):
    threading.Thread(target=idle, daemon=True).start()
ready(); idle()
""",
    "forks-without-pause": """
ready()
while True:
    tick(); os.waitpid(fork(lambda: None), 0)
""",
    "relay": """
def runner():
    while True:
        tick()
        if os.fork():
            os._exit(0)
fork(runner); ready(); idle()
""",
    "200-children": """
def wait():
    while True:
        time.sleep(0.2)
for _ in range(200):
    fork(wait)
ready(); idle()
""",
    "setsid-relay": """
def runner():
    while True:
        tick()
        if os.fork():
            os._exit(0)
        os.setsid()
fork(runner); ready(); idle()
""",
    "setsid-child": """
def leave():
    os.setsid(); busy()
fork(leave); ready(); idle()
""",
    "double-forked-daemon": """
reader, writer = os.pipe()
def outer():
    os.setsid()
    def inner():
        os.write(writer, b"x"); busy()
    fork(inner)
os.waitpid(fork(outer), 0); os.read(reader, 1); ready(); idle()
""",
    "ignores-sigtstp": """
signal.signal(signal.SIGTSTP, signal.SIG_IGN); ready(); busy()
""",
    "handles-sigtstp-and-goes-on": """
signal.signal(signal.SIGTSTP, lambda *_: None); ready(); busy()
""",
    "checkpoints-on-sigtstp": """
def checkpoint(*_):
    with open(os.path.join(os.environ["XCE_CHECKPOINT_DIR"], "state"), "w") as file:
        file.write("saved")
    os.kill(os.getpid(), signal.SIGSTOP)
signal.signal(signal.SIGTSTP, checkpoint); ready(); busy()
""",
    "re-raises-sigtstp": """
def again(number, _):
    signal.signal(number, signal.SIG_DFL); os.kill(os.getpid(), number)
signal.signal(signal.SIGTSTP, again); ready(); busy()
""",
    "ignores-sighup": "signal.signal(signal.SIGHUP, signal.SIG_IGN); ready(); busy()",
    "traced-child": """
def traced():
    ctypes.CDLL(None).ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(fork(traced), os.WUNTRACED); ready(); idle()
""",
    "awkward-name": """
ctypes.CDLL(None).prctl(15, b"a) R (b", 0, 0, 0); ready(); busy()
""",
}

#: A parent inside vfork whose child is stopped before exec stays in D for ever: no signal can hold it.
_VFORK = """
libc = ctypes.CDLL(None)
def parent():
    if libc.vfork() == 0:
        while True:
            os.kill(os.getpid(), signal.SIGSTOP)
fork(parent); ready(); idle()
"""

#: Does nothing, and leaves no trace.
QUIET = """
ready()
while True:
    time.sleep(0.05)
"""

_JOB_CONTROL = """
set -m
(while :; do printf . >> "$TICKS"; done) &
(while :; do printf . >> "$TICKS"; done) &
echo ready
while :; do sleep 0.02; printf . >> "$TICKS"; done
"""

#: A shell that starts one program after the other; while one is being born the shell waits inside vfork.
_SPAWNER = """
echo ready
while :; do /bin/true; printf . >> "$TICKS"; done
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """One shape: its name and how it is started."""

    name: str
    argv: tuple[str, ...]


def python(code: str) -> tuple[str, ...]:
    """Return the arguments that run a piece of Python with the common parts above."""
    return (sys.executable, "-I", "-S", "-c", _COMMON + code)


STOPPABLE = [
    *(Program(name, python(code)) for name, code in _PROGRAMS.items()),
    Program("job-control-shell", ("/bin/bash", "-c", _JOB_CONTROL)),
]
SPAWNER = Program("spawns-without-pause", ("/bin/sh", "-c", _SPAWNER))
STOPPABLE.append(SPAWNER)
VFORK = Program("vfork-parent", python(_VFORK))
