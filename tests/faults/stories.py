"""
What people do while things break: one short story that passes every named place.

Two long sessions fill both nodes. A higher one takes the room of one, which is suspended. A second higher one is
cancelled while another of them is warned, so that its stop is asked back. Small ones suspend, resume and are requeued.
Nothing is expected to work: what a call met is in the history.
"""

from __future__ import annotations

import itertools
import random

from tests.faults import cluster as clusters

_numbers = itertools.count(1)
STEP_S, LONG_S = 25, 300


def play(cluster: clusters.Cluster, choice: random.Random) -> None:
    """Play the story once; the sessions of each play have names of their own."""
    tag, client = f"s{next(_numbers)}", cluster.client

    def submit(name: str, rank: int, seconds: float, *, cpu: str = "4") -> str:
        client("submit", name=f"{tag}-{name}", cpu=cpu, rank=rank, argv=cluster.argv(seconds))
        return f"{tag}-{name}"

    def until(name: str, *wanted: str) -> None:
        cluster.wait(lambda: cluster.has(*wanted, name=name), deadline_s=STEP_S)

    client("rule", preemption_mode="suspend")
    lows = [submit(f"low{number}", 1, LONG_S, cpu="3") for number in (1, 2)]
    for low in lows:
        until(low, "running")
    high = submit("high", 20, 0.3)
    until(high, "running", "terminated")
    until(high, "terminated")
    client("rule", preemption_mode=choice.choice(("reschedule", "terminate")))
    waverer = submit("waverer", 30, 0.3)
    until(f"{tag}-low", "preempted")
    client("person", verb="cancel", name=waverer)
    small = submit("small", 5, LONG_S, cpu="1")
    until(small, "running")
    client("person", verb="suspend", name=small)
    until(small, "suspended")
    client("person", verb="resume", name=small)
    until(small, "running")
    client("person", verb="requeue", name=small)
    until(small, "pending", "scheduled")
