"""A small cluster with doubles of its agents."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scheduler import models
from scheduler.selectors import consistency
from scheduler.services import actors, reports, rounds, submission
from tests import agent_double, model_factories


@dataclasses.dataclass
class Cluster:
    """One group, its node with an agent double, three queues, two owners."""

    group: models.ResourceGroup
    node: models.Node
    agent: agent_double.AgentDouble
    queues: dict[str, models.Queue]
    alice: models.User
    bob: models.User
    admin: models.User

    def submit(
        self, owner: models.User, *, cpu: str = "2", queue: str = "normal", **wanted: Any
    ) -> models.Session:
        """Submit a session as its owner, through the service."""
        values = {"name": "s", "group": self.group.slug, "queue": queue, "argv": ["/bin/true"], **wanted}
        values.setdefault("slots", {"cpu": cpu})
        return submission.submit_session(actors.of_user(owner), submission.SubmitRequest(**values))

    def round(self) -> rounds.RoundSummary:
        """Run one round."""
        summary = rounds.run_group_round(self.group.pk)
        assert summary is not None
        return summary

    def run(self, owner: models.User, **wanted: Any) -> models.Session:
        """Submit a session and bring it to RUNNING."""
        session = self.submit(owner, **wanted)
        self.round()
        self.agent.starts(session)
        session.refresh_from_db()
        assert session.state == "running"
        return session

    def join(self, name: str = "n2", **capacity: int) -> agent_double.AgentDouble:
        """Add a node with its agent; capacity in milli-cores and the like, default that of the first."""
        node = model_factories.a_node(name, group=self.group, capacity=capacity or {"cpu": 4000})
        return agent_double.AgentDouble(node)

    def contest(self, **low: Any) -> tuple[models.Session, models.Session]:
        """Run a session that fills the node and let one of its owner, ranked higher, preempt it."""
        victim = self.run(self.alice, **{"cpu": "4", "job_priority": 1, **low})
        preemptor = self.submit(self.alice, cpu="4", job_priority=20)
        self.round()
        return victim, preemptor

    def pair(self, owner: models.User, **wanted: Any) -> tuple[models.Session, agent_double.AgentDouble]:
        """Run a session on two nodes; returns it with the agent of the second."""
        other = self.join()
        session = self.submit(owner, node_count=2, **{"cpu": "4", **wanted})
        self.round()
        self.agent.starts(session)
        other.starts(session)
        session.refresh_from_db()
        assert session.state == "running"
        return session, other

    def slot(self, kind: str = "cpu") -> tuple[int, int]:
        """Return (allocated, reserved) of the node."""
        row = models.NodeSlot.objects.get(node=self.node, kind=kind)
        return row.allocated, row.reserved


@pytest.fixture
def make_cluster(db: None) -> Callable[..., Cluster]:
    """Return a maker of clusters; its arguments are rules of the group."""

    def make(**rules: Any) -> Cluster:
        group = model_factories.a_group("g", **rules)
        node = model_factories.a_node("n1", group=group, capacity={"cpu": 4000, "cuda.device": 4})
        background = model_factories.a_queue("background", groups=[group], preemptible=True)
        normal = model_factories.a_queue("normal", groups=[group])
        urgent = model_factories.a_queue("urgent", groups=[group], preempts=[background])
        alice = model_factories.a_user("alice", group=group, role="submitter")
        bob = model_factories.a_user("bob", group=group, role="submitter")
        admin = model_factories.an_administrator("root")
        queues = {"background": background, "normal": normal, "urgent": urgent}
        return Cluster(group, node, agent_double.AgentDouble(node), queues, alice, bob, admin)

    return make


@pytest.fixture(autouse=True)
def clean_at_the_end(db: None) -> Iterator[None]:
    """Recount everything after each test: no service may leave the ledgers wrong."""
    yield
    assert consistency.findings() == []


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Return a setter of what happens once between the thinking of the next round and its commit."""
    once: list[Callable[[], object]] = []
    think = rounds.core_rounds.run_round

    def run_round(snapshot: Any, decide: Any, **more: Any) -> None:
        think(snapshot, decide, **more)
        while once:
            once.pop()()

    monkeypatch.setattr(rounds.core_rounds, "run_round", run_round)
    return once.append


@pytest.fixture
def refused(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return a reader of the lines of the security log so far."""
    caplog.set_level(logging.WARNING, "xce.security")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "xce.security"]


def deliver(text: str) -> None:
    """Deliver an envelope, again or late."""
    reports.receive(text)


def fate_of(session: models.Session) -> str:
    """Return what became of a session's last turn as a victim."""
    return models.VictimFate.objects.filter(victim__session=session).latest("pk").fate


def outcome_of(session: models.Session) -> str:
    """Return how the last decision for a session turned out, with its cause."""
    outcome = models.Outcome.objects.filter(decision__session=session).latest("pk")
    return f"{outcome.kind}: {outcome.cause}" if outcome.cause else outcome.kind


def state_of(session: models.Session) -> str:
    """Return the session's state as stored."""
    return models.Session.objects.values_list("state", flat=True).get(pk=session.pk)
