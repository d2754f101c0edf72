"""A small cluster with doubles of its agents."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scheduler import models
from scheduler.selectors import consistency
from scheduler.services import actors, rounds, submission
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


def state_of(session: models.Session) -> str:
    """Return the session's state as stored."""
    return models.Session.objects.values_list("state", flat=True).get(pk=session.pk)
