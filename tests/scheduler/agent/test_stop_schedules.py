"""Exactly one stop for each order, whatever is doubled, delayed, reordered or killed (P02)."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.scheduler.agent import stop_judge

PROJECT = pathlib.Path(__file__).resolve().parents[3]
SCHEDULES = 2000 if os.environ.get("XCE_NIGHT") else 100
TIMEOUT_S = 2400 if os.environ.get("XCE_NIGHT") else 240
COUNTER_PROOFS = 40


def played(count, *options):
    """Play schedules in a program of their own, since they fork; return its sums."""
    command = [sys.executable, "-m", "tests.scheduler.agent.stop_schedules", "0", str(count - 1), *options]
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=TIMEOUT_S - 20
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return json.loads(done.stdout)


@pytest.mark.timeout(TIMEOUT_S)
def test_p02_each_order_stops_once_whatever_is_doubled_delayed_reordered_or_killed():
    sums = played(SCHEDULES)

    assert sums["wrong"] == {}
    assert sums["schedules"] == SCHEDULES
    assert sums["stops"] > SCHEDULES
    assert sums["deaths"] > SCHEDULES
    assert {name: sums[name] for name in stop_judge.FAULTS} == dict.fromkeys(stop_judge.FAULTS, 0)


@pytest.mark.timeout(TIMEOUT_S)
def test_p02_without_the_sync_of_the_journal_the_same_schedules_find_doubled_stops():
    sums = played(COUNTER_PROOFS, "--no-sync")

    assert sums["doubled"] > 0
    assert sums["unwritten"] > 0
