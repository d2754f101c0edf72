"""
Every named point, every fault: afterwards nobody is lost, nobody is stuck, nothing runs without a session (P03).

In CI one fixed point and one that rotates with the commit are met by a kill; at night all by all faults, and random
double faults come on top.
"""

from __future__ import annotations

import os
import random
import subprocess

import pytest

from scheduler import points
from tests.faults import cluster as clusters
from tests.faults import launch, stories
from tests.history import lines
from xceweb.stack import privileges

IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))
SEED = int(os.environ.get("XCE_SEED", "1"))
FIXED = ("round.written",)
ROTATING = 1
DOUBLES = 40
pytestmark = [pytest.mark.system, pytest.mark.timeout(2400 if IS_NIGHT else 400)]


def _rotating() -> list[str]:
    """Return some points that are others with each commit."""
    rest = [point for point in points.ALL if point not in FIXED]
    told = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=privileges.PROJECT, capture_output=True, text=True, check=False
    )
    start = int(told.stdout.strip() or "0", 16) % len(rest)
    return [rest[(start + step * 7) % len(rest)] for step in range(ROTATING)]


def _matrix() -> list[tuple[str, str]]:
    if not IS_NIGHT:
        return [(point, launch.KILL) for point in (*FIXED, *_rotating())]
    ending = [(point, act) for act in (launch.KILL, launch.PAUSE) for point in points.ALL]
    return ending + [(point, launch.FAIL) for point in points.CONTROLLER]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    root = tmp_path_factory.mktemp("crash")
    root.chmod(0o755)
    with clusters.running(root) as one:
        yield one


@pytest.mark.parametrize(("point", "act"), _matrix())
def test_p03_a_fault_at_a_named_point_loses_nobody_and_leaves_nobody_in_transition(
    cluster, point, act, record_property
):
    before = len(cluster.done())
    cluster.plan(point, act)

    stories.play(cluster, random.Random(f"{SEED} {point} {act}"))

    met = len(cluster.done()) - before
    findings = cluster.heal()
    record_property("faults", met)
    record_property("findings", len(findings))
    assert findings == []
    assert met, f"nothing passed {point}; {cluster.client.whys[-5:]}"


@pytest.mark.night
@pytest.mark.parametrize("number", range(DOUBLES))
def test_p03_two_faults_at_random_times_lose_nobody_and_leave_nobody_in_transition(
    cluster, number, record_property
):
    choice = random.Random(f"{SEED} double {number}")
    point, service = choice.choice(points.ALL), choice.choice(clusters.SERVICES)
    cluster.plan(point, choice.choice((launch.KILL, launch.PAUSE)))
    cluster.wait(lambda: False, deadline_s=choice.uniform(0, 0.5))

    cluster.strike(service, choice.choice(("kill", "pause")))
    stories.play(cluster, choice)
    cluster.strike(choice.choice(clusters.SERVICES), "kill")

    findings = cluster.heal()
    record_property("faults", 3)
    record_property("findings", len(findings))
    assert findings == [], f"{point}, {service}"


def test_a_session_that_is_made_away_with_is_found(cluster):
    """The judges look at what is really there: a call that was never made is missed."""
    cluster.client.calls.append(lines.Call("submit", "made-up", lines.OK))

    found = cluster.findings()

    cluster.client.calls.pop()
    assert found == ["made-up was accepted and is not there"]
