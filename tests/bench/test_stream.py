"""What sockets were told is judged truly; a small run of both ways at night."""

import os
import subprocess
import sys

import pytest

from bench import stream
from xceweb.stack import privileges

PROGRAM = """
from bench import stream
print(stream.report(sockets=(5,), seconds=2, throwaway=True))
"""


@pytest.mark.parametrize(
    ("frames", "delays", "lost", "twice"),
    [
        ([(10.5, [1, 2]), (11.0, [3])], [500, 500, 500], 0, 0),
        ([(10.5, [1]), (11.0, [3])], [500, 500], 1, 0),
        ([(10.5, [1, 2]), (11.0, [2, 3])], [500, 500, 500], 0, 1),
        ([], [], 3, 0),
    ],
)
def test_each_event_counts_once_for_each_socket(frames, delays, lost, twice):
    sent = {1: 10.0, 2: 10.0, 3: 10.5}

    found = stream.judge([frames, frames], sent)

    assert (sorted(found[0]), *found[1:]) == (sorted(delays * 2), 2 * lost, 2 * twice)


@pytest.mark.night
@pytest.mark.system
def test_both_ways_tell_every_event():
    env = {**os.environ, "PYTHONPATH": str(privileges.PROJECT)}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in answer.stdout.splitlines() if "|" in line
    ]

    assert [(row[0], row[1], row[3], row[4]) for row in rows[2:]] == [
        ("stream", "5", "0", "0"),
        ("plain Channels group", "5", "0", "0"),
    ]
    assert all(int(row[2]) >= 150 for row in rows[2:])
