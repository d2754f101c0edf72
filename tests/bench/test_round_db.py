"""A small world goes through every round that is measured, in a process and a database of its own."""

import os
import subprocess
import sys

import pytest

from xceweb.stack import privileges

PROGRAM = """
from bench import round_db
round_db.PREEMPTORS = 2
print(round_db.report(seeds=1, nodes=20, finished=5, throwaway=True))
"""


@pytest.mark.system
def test_every_round_has_its_row():
    env = {**os.environ, "PYTHONPATH": str(privileges.PROJECT)}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    lines = [line for line in answer.stdout.splitlines() if "|" in line]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]

    assert [row[1] for row in rows[2:]] == ["1", "3", "5", "5", "1"]
    assert rows[2][0] == "180 placed, all of them new"
    assert all(float(row[2].replace(",", "")) > 0 for row in rows[2:])
