"""Reports that came together: the same as one after the other, and no report can spoil another."""

from __future__ import annotations

import random
import uuid

import pytest
from django.db import connection
from django.test import utils

from scheduler import models
from scheduler.core import states
from scheduler.protocol import messages
from scheduler.services import commands, reports, session_reports
from tests.scheduler.services import conftest, staging


@pytest.fixture
def cluster(make_cluster):
    return make_cluster()


@pytest.fixture
def acknowledged(monkeypatch):
    """Sequences that were acknowledged, one tuple for each message."""
    found = []
    monkeypatch.setattr(
        commands,
        "_publish",
        lambda message, peer, *, seq: (
            found.append(tuple(number for _, number in message.reports))
            if isinstance(message, messages.AckCommand)
            else None
        ),
    )
    return found


def started(cluster, *sessions, **more):
    """Return an envelope for each session that says that it runs."""
    texts = []
    for session in sessions:
        about = cluster.agent._about(cluster.agent._open(session, messages.StartCommand))
        report = messages.Started(**about, pid=1, started_mono_ms=1, boot="b", **more)
        texts.append(cluster.agent.sealed(report))
    return texts


def ended(cluster, session):
    """Return an envelope that says that a session has ended by itself."""
    about = {"session": str(session.public_id), "epoch": 1, "command_id": ""}
    end = {"exit_code": 0, "signal": None, "known": True, "cause": "self", "ran_ms": 5}
    cost = {"after_warning": False, "checkpointed": False, "cpu_ms": 5, "peak_bytes": 1}
    return cluster.agent.sealed(messages.Ended(**about, **end, **cost))


def dispatched(cluster, count):
    sessions = [cluster.submit(cluster.alice, cpu="1") for _ in range(count)]
    cluster.round()
    return sessions


def test_many_are_applied_in_one_go_in_their_order_and_acknowledged_at_once(cluster, acknowledged):
    first, second, third = dispatched(cluster, 3)
    texts = [*started(cluster, first, second, third), ended(cluster, second)]

    reports.receive_many(texts)

    assert [conftest.state_of(one) for one in (first, second, third)] == ["running", "terminated", "running"]
    assert acknowledged == [(1, 2, 3, 4)]
    told = models.Event.objects.filter(type__in=["session.started", "session.ended"]).order_by("number")
    assert list(told.values_list("session_id", flat=True)) == [first.pk, second.pk, third.pk, second.pk]


def test_many_take_the_locks_once(cluster):
    sessions = dispatched(cluster, 4)
    with utils.CaptureQueriesContext(connection) as queries:
        reports.receive_many(started(cluster, *sessions))
    statements = [query["sql"] for query in queries]

    assert sum("FOR NO KEY UPDATE OF" in one for one in statements) == 1
    assert sum("eventcounter" in one for one in statements) == 1


def test_one_that_is_forbidden_spoils_no_other_and_settles_its_command(cluster, refused):
    first, second = dispatched(cluster, 2)
    texts = started(cluster, first, second)
    models.Session.objects.filter(pk=first.pk).update(state="suspended")

    reports.receive_many(texts)
    models.Session.objects.filter(pk=first.pk).update(state="scheduled")

    assert conftest.state_of(second) == "running"
    assert models.AgentCommand.objects.get(session=first).settled_how == "started"
    assert refused() == []


def test_one_that_fails_unforeseen_is_not_acknowledged_and_spoils_no_other(
    cluster, acknowledged, monkeypatch
):
    first, second, third = dispatched(cluster, 3)
    apply = session_reports.apply

    def fails(work, session, node, report):
        apply(work, session, node, report)
        if session.pk == first.pk:
            raise RuntimeError("a fault of ours")

    monkeypatch.setattr(session_reports, "apply", fails)
    reports.receive_many(started(cluster, first, second))
    reports.receive_many([cluster.agent.sealed(messages.Heartbeat()), *started(cluster, first, third)])
    with pytest.raises(RuntimeError):
        reports.receive_many(started(cluster, first))

    assert [conftest.state_of(one) for one in (first, second, third)] == ["scheduled", "running", "running"]
    assert acknowledged == [(2,), (3, 5)]
    monkeypatch.setattr(session_reports, "apply", apply)
    reports.receive_many(started(cluster, first))
    assert conftest.state_of(first) == "running"


def test_each_without_ground_costs_its_one_line(cluster, refused):
    (session,) = dispatched(cluster, 1)
    about = {"session": str(session.public_id), "epoch": 1, "command_id": str(uuid.uuid4())}
    strange = {**about, "session": str(uuid.uuid4())}
    texts = [
        *(cluster.agent.sealed(messages.StartFailed(**facts, error="no")) for facts in (about, strange)),
        *started(cluster, session),
        "nonsense",
    ]

    reports.receive_many(texts)

    assert conftest.state_of(session) == "running"
    assert sorted(line.split(":")[0] for line in refused()) == [
        "report refused",
        "report start-failed of n1 about no session of ours",
        "report start-failed of n1 answers no command of ours",
    ]


def test_reports_of_several_nodes_are_taken_node_by_node(cluster, acknowledged):
    first, second = dispatched(cluster, 2)
    other = cluster.join()
    texts = started(cluster, first, second)
    texts.insert(1, other.sealed(messages.Heartbeat()))

    reports.receive_many(texts)

    assert acknowledged == [(1, 2), (1,)]
    assert {conftest.state_of(one) for one in (first, second)} == {"running"}
    assert models.AgentStatus.objects.filter(last_report_at__isnull=False).count() == 2


@pytest.mark.parametrize("seed", range(6))
def test_p03_a_life_told_again_in_lots_of_any_size_changes_nothing_more(make_cluster, seed):
    cluster = make_cluster(**staging.RULES)
    delivered = []
    send = cluster.agent.send
    cluster.agent.send = lambda report: delivered.append(send(report)) or delivered[-1]
    low, high = cluster.contest()
    cluster.agent.suspends(low)
    cluster.round()
    cluster.agent.starts(high)
    cluster.agent.ends(high)
    cluster.round()
    cluster.agent.resumes(low)
    cluster.agent.hello(messages.HeldSession(session=str(low.public_id), epoch=2, state="running"))
    before = staging.picture()

    chance, size = random.Random(seed), 1 + seed * 3
    texts = chance.choices(delivered, k=40)
    for begin in range(0, len(texts), size):
        reports.receive_many(texts[begin : begin + size])

    assert staging.picture() == before
    assert conftest.state_of(low) == states.SessionState.RUNNING
