"""Every page that is measured is there, in a small world of its own."""

import os
import subprocess
import sys

import pytest

from xceweb.stack import privileges

PROGRAM = """
from bench import pages
print(pages.report(sessions=60, nodes=2, runs=1, throwaway=True))
"""


@pytest.mark.system
@pytest.mark.night
def test_every_page_has_its_row():
    env = {**os.environ, "PYTHONPATH": str(privileges.PROJECT), "XCE_LOG_LEVEL": "WARNING"}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    lines = [line for line in answer.stdout.splitlines() if "|" in line]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines][2:]

    assert len(rows) == 26
    assert {row[1] for row in rows} == {"administrator", "operator of one group"}
    assert all(int(row[2]) > 0 and float(row[3].replace(",", "")) > 0 for row in rows)
