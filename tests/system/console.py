"""One process in a stack's Django environment that runs one script after the other; each as a command costs seconds."""

import json
import pathlib
import subprocess
import sys

from xceweb.stack import privileges

#: Reads one script a line, answers one line: what it printed, and the trace when it failed.
_LOOP = """
import contextlib, io, json, sys, traceback
from django import db
for line in sys.stdin:
    printed, fault = io.StringIO(), ""
    db.connections.close_all()
    try:
        with contextlib.redirect_stdout(printed):
            exec(json.loads(line), {"__name__": "console"})
    except Exception:
        fault = traceback.format_exc()
    print(json.dumps([printed.getvalue(), fault]), flush=True)
"""


class Console:
    """The process; started when first asked, and started anew when it has ended."""

    def __init__(self, data_dir: pathlib.Path, env: dict[str, str]) -> None:
        self._env = env | {"XCE_DATA_DIR": str(data_dir)}
        self._process: subprocess.Popen[str] | None = None

    def run(self, script: str) -> str:
        """
        Run a script and return what it printed.

        Raises:
            AssertionError: with the trace of a script that failed, or where the process ended.
        """
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(script) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, "the console ended"
        printed, fault = json.loads(answer)
        assert not fault, fault
        return printed

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate(timeout=30)
            self._process = None

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "xceweb.stack.manage", "shell", "-v0", "-c", _LOOP],
                env=self._env,
                cwd=privileges.PROJECT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process
