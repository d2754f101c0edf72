"""Same input, same decisions, byte for byte: in another process, under another hash seed, in any order."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

from scheduler.core import entities
from tests.scheduler.core import serialised

PROJECT = pathlib.Path(__file__).resolve().parents[3]
ROUNDS = 6_000 if os.environ.get("XCE_NIGHT") else 300


def _told(hash_seed, shuffle):
    argv = [sys.executable, "-P", "-m", "tests.scheduler.core.serialised", str(ROUNDS), str(shuffle)]
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(argv, env=env, cwd=PROJECT, stdout=subprocess.PIPE, check=True).stdout


@pytest.fixture(scope="module")
def told():
    """What one process says, a byte string with one line a round."""
    return _told("0", 0)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("hash_seed", "shuffle"), [("1", 0), ("1", 1), ("random", 1_000)])
def test_p13_every_hash_seed_and_every_order_of_the_input_gives_the_same_bytes(told, hash_seed, shuffle):
    found = _told(hash_seed, shuffle)

    differing = [
        n
        for n, both in enumerate(zip(told.splitlines(), found.splitlines(), strict=True))
        if len(set(both)) > 1
    ]
    assert differing == []
    assert found == told


def test_a_shuffled_snapshot_is_another_value_of_the_same_content():
    from scheduler.core import snapshot

    for seed, view in enumerate(serialised.views(9)):
        mixed = serialised.shuffled(view, seed)
        assert snapshot.digest(mixed) == snapshot.digest(view)
        assert len(view.sessions) < 4 or mixed.sessions != view.sessions


def test_the_rounds_decide_everything_there_is_to_decide(told):
    seen = collections.Counter()
    for row in told.splitlines():
        for one in json.loads(row):
            seen.update(_named(one))

    orders = [f"owner_job_priority stops {many}" for many in ("one", "several")]
    wanted = ["dispatch on several nodes", "claim", "wait", "takeover", "shadow", "devices", *orders]
    wanted += ["lowest_priority_first stops one", "lowest_priority_first stops several", "resume", "reserved"]
    assert {name: seen[name] for name in wanted if seen[name] < 3} == {}
    assert {axis for axis in entities.Axis if not seen[f"axis {axis}"]} == set()


def _named(one):
    if one["op"] == "DISPATCH":
        yield "dispatch on several nodes" if len(one["grants"]) > 1 else "dispatch"
        yield from ["resume"] * one["is_resume"] + ["devices"] * any(
            grant["indices"] for grant in one["grants"]
        )
        yield from ["reserved"] * (one["reservation_id"] is not None)
    elif one["op"] == "PEND":
        yield from ["claim"] * bool(one["claim"]) + ["wait"] * bool(one["wait"])
    else:
        many = "several" if len(one["victims"]) > 1 else "one"
        yield f"{one['policy_name']} stops {many}"
        yield f"axis {one['axis']}"
        yield from ["takeover"] * (one["takes_over"] is not None) + ["shadow"] * one["is_shadow"]
