"""`bin/up` for tests of faults: every program with its crash points armed, agents with short heartbeats."""

from __future__ import annotations

import os
import sys

from xceweb.stack import datadir, errors, services, supervisor, up

HEARTBEAT_S = 1.0
_plain, _environment = services.python, services.base_environment


def _armed(*argv: str) -> list[str]:
    if argv[0] != "-m" or argv[1].startswith("xceweb.stack"):
        return _plain(*argv)
    more = ["--heartbeat", str(HEARTBEAT_S)] if argv[1] == "scheduler.agent" else []
    return [sys.executable, "-P", "-m", "tests.faults.launch", *argv[1:], *more]


def _with_place(directory: datadir.DataDir) -> dict[str, str]:
    return _environment(directory) | {"XCE_FAULTS": os.environ["XCE_FAULTS"]}


if __name__ == "__main__":
    services.python, services.base_environment = _armed, _with_place
    supervisor.LONGEST_DELAY_S = supervisor.FIRST_DELAY_S  # each death here is the test's doing
    errors.run(up.main)
