"""
Clocks may be wrong: the controller's processes and the agents', by an hour, or jumping (P17, the scheduler's half).

One clock counts, the database's. The same story is lived under each wrong clock and must come to the same end.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import time

import pytest
from django.utils import timezone

from scheduler import clock, models
from scheduler.protocol import fields, messages
from scheduler.selectors import consistency
from scheduler.services import actors, control, reconcile, reports
from tests import agent_double
from tests.scheduler.services import conftest, staging

HOUR_S = 3600
RULES = {"preemption_state": "on", "preemption_mode": "suspend", "preemption_min_runtime": 600}


class Clock:
    """How far a clock is from the truth, look by look, in seconds."""

    def __init__(self, *offsets: int) -> None:
        self._offsets = itertools.cycle(offsets)

    def look(self) -> int:
        return next(self._offsets)


CLOCKS = {
    "right": (0,),
    "an hour behind": (-HOUR_S,),
    "an hour ahead": (HOUR_S,),
    "jumping": (0, 600, -600, 1200, -1200),
    "90 s behind": (-90,),
}


@pytest.fixture
def wrong(monkeypatch, request):
    """Let processes read wrong wall clocks, and agents wrong monotonic ones."""
    offsets = Clock(*CLOCKS[request.param])
    true_time, true_now = time.time, timezone.now
    monkeypatch.setattr(time, "time", lambda: true_time() + offsets.look())
    monkeypatch.setattr(timezone, "now", lambda: true_now() + datetime.timedelta(seconds=offsets.look()))

    def send(self, report):
        at_ms = max(1, 10 * HOUR_S * 1000 + self.seq * 10 + offsets.look() * 1000)
        text = self.sealed(report if report.at_mono_ms else dataclasses.replace(report, at_mono_ms=at_ms))
        reports.receive(text)
        return text

    monkeypatch.setattr(agent_double.AgentDouble, "send", send)


def _live(cluster):
    """Live a story with everything that time decides in it; returns what of it can be told without times."""
    low = cluster.run(cluster.alice, cpu="4", job_priority=1)
    high = cluster.submit(cluster.alice, cpu="4", job_priority=20)
    cluster.round()
    protected = conftest.state_of(low)
    models.Session.objects.filter(pk=low.pk).update(started_at=clock.now() - datetime.timedelta(seconds=600))
    cluster.round()
    cluster.agent.suspends(low)
    cluster.round()
    cluster.agent.starts(high)
    later = cluster.submit(cluster.bob, cpu="1", begin_at=clock.now() + datetime.timedelta(seconds=30))
    reconcile.run()
    cluster.agent.hello(
        messages.HeldSession(session=str(high.public_id), epoch=1, state=fields.HeldState.RUNNING),
        messages.HeldSession(session=str(low.public_id), epoch=1, state=fields.HeldState.SUSPENDED),
    )
    cluster.agent.ends(high)
    cluster.round()
    cluster.agent.resumes(low)
    reconcile.run()
    control.cancel_session(actors.of_user(cluster.bob), later)
    return protected, models.Node.objects.get().state, staging.picture()


@pytest.mark.parametrize("wrong", CLOCKS, indirect=True)
def test_p17_wrong_clocks_of_processes_and_agents_change_nothing(make_cluster, wrong):
    protected, node, picture = _live(make_cluster(**RULES))

    assert (protected, node) == ("running", "ready")
    assert [row[0] for row in picture["sessions"]] == ["running", "terminated", "terminated"]
    assert picture["outcomes"] == [("used", "")]
    assert consistency.findings() == []
