"""A node is lost when a person says so, or when it was silent for longer than its fence lasts; else it keeps all."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, errors, models
from scheduler.protocol import fields, messages
from scheduler.services import actors, commands, lost_nodes, reconcile
from tests import model_factories
from tests.scheduler.services import conftest, staging


@pytest.fixture
def killed(monkeypatch):
    """Collect the kills that are sent directly, as (session, epoch)."""
    found = []
    monkeypatch.setattr(
        commands, "send_stale_kill", lambda node, session, epoch: found.append((session, epoch))
    )
    return found


@pytest.fixture
def broker(monkeypatch):
    """A broker that answers, until the test says otherwise."""
    answers = {"yes": True}
    monkeypatch.setattr(lost_nodes, "_broker_answers", lambda: answers["yes"])
    return answers


def silence(seconds):
    """Let the last report of every agent be so long ago, and have the reconciler look."""
    heard = clock.now() - datetime.timedelta(seconds=seconds)
    models.AgentStatus.objects.update(last_report_at=heard)
    reconcile.suspect_silent_nodes()


def an_end(session, **more):
    facts = {"exit_code": None, "signal": None, "known": False, "cause": fields.EndCause.SELF, **more}
    spent = {"after_warning": False, "checkpointed": False, "cpu_ms": 1, "peak_bytes": 1, "ran_ms": 1}
    return messages.Ended(session=str(session.public_id), epoch=1, **facts, **spent)


def the_node():
    return models.Node.objects.get()


def declare(reason="it burnt"):
    lost_nodes.declare_lost(actors.of_user(model_factories.an_administrator()), the_node(), reason=reason)


@pytest.mark.parametrize(
    ("restartable", "expected"), [(True, ("pending", "", 2)), (False, ("terminated", "lost", 1))]
)
def test_a_node_that_is_declared_lost_frees_what_it_held(make_cluster, restartable, expected):
    cluster = make_cluster()
    session = cluster.run(cluster.alice, restartable=restartable)
    silence(20)

    declare()

    session.refresh_from_db()
    change = models.ConfigChange.objects.latest("pk")
    assert (session.state, session.result, session.attempt) == expected
    assert cluster.slot() == (0, 0)
    assert (the_node().state, the_node().state_reason) == ("down", "declared lost: it burnt")
    assert (change.object_type, change.reason, change.after) == (
        "node",
        "it burnt",
        {"state": "down", "lost": True},
    )


@pytest.mark.parametrize("state", ["scheduled", "preempted", "resuming", "terminating"])
def test_whatever_a_session_was_doing_on_a_lost_node_is_over(make_cluster, state):
    cluster = make_cluster(**staging.RULES)
    session = getattr(staging, state)(cluster)
    cluster.agent.send(messages.Heartbeat())
    silence(20)

    declare()

    assert conftest.state_of(session) in ("pending", "terminated")
    assert not models.Allocation.objects.filter(session=session).exists()
    assert not models.AgentCommand.objects.filter(session=session, settled_at=None).exists()


def test_a_node_that_speaks_is_not_lost(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)

    with pytest.raises(errors.Refusal, match="has reported within 15 s"):
        declare()

    assert conftest.state_of(session) == "running"


def test_only_an_administrator_declares_and_says_why(make_cluster):
    cluster = make_cluster()
    cluster.run(cluster.alice)
    silence(20)

    with pytest.raises(errors.Refusal, match="write why"):
        declare(" ")
    with pytest.raises(errors.Refusal):
        lost_nodes.declare_lost(actors.of_user(cluster.alice), the_node(), reason="mine")

    assert the_node().state == "suspect"


def test_a_lost_node_that_comes_back_has_its_old_runs_killed_and_refused_and_stays_down(make_cluster, killed):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    silence(20)
    declare()
    held = messages.HeldSession(session=str(session.public_id), epoch=1, state=fields.HeldState.RUNNING)

    cluster.agent.hello(held)
    cluster.agent.send(an_end(session, known=True, exit_code=0))

    assert killed == [(str(session.public_id), 1)]
    assert conftest.state_of(session) == "pending"
    assert the_node().state == "down"


def test_what_a_crash_left_of_a_declaration_is_finished_by_the_reconciler(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    models.Node.objects.update(state="down")

    reconcile.run()

    assert conftest.state_of(session) == "pending"


# -- the fence


def fenced(make_cluster, *, rule="fence", can_fence=True):
    cluster = make_cluster(silent_node=rule)
    cluster.agent.hello()
    models.AgentStatus.objects.update(facts={"enforce": {"self_fence": can_fence}})
    return cluster, cluster.run(cluster.alice)


@pytest.mark.parametrize(
    ("rule", "can_fence", "fence_ms"), [("fence", True, 300_000), ("fence", False, 0), ("keep", True, 0)]
)
def test_a_start_orders_a_fence_where_the_group_wants_it_and_the_agent_can(
    make_cluster, rule, can_fence, fence_ms
):
    fenced(make_cluster, rule=rule, can_fence=can_fence)

    assert models.AgentCommand.objects.get().body["fence_ms"] == fence_ms


@pytest.mark.parametrize(
    ("rule", "can_fence", "silent_s", "state"),
    [
        ("fence", True, 601, "pending"),
        ("fence", True, 599, "running"),
        ("fence", False, 10_000, "running"),
        ("keep", True, 10_000, "running"),
    ],
)
def test_only_a_session_that_its_node_has_ended_by_then_is_lost_by_time(
    make_cluster, broker, rule, can_fence, silent_s, state
):
    cluster, session = fenced(make_cluster, rule=rule, can_fence=can_fence)
    silence(silent_s)

    lost_nodes.lose_fenced_sessions()

    assert conftest.state_of(session) == state
    assert cluster.slot() == ((0, 0) if state == "pending" else (2000, 0))


def test_a_rule_that_changed_after_the_start_changes_nothing_for_it(make_cluster, broker):
    cluster, session = fenced(make_cluster, rule="keep")
    model_factories.a_policy_version(cluster.node.group, silent_node="fence")
    silence(10_000)

    lost_nodes.lose_fenced_sessions()

    assert conftest.state_of(session) == "running"


def test_while_the_broker_is_away_no_silence_counts_and_then_it_counts_anew(make_cluster, broker):
    _, session = fenced(make_cluster)
    silence(10_000)
    broker["yes"] = False
    lost_nodes.lose_fenced_sessions()
    broker["yes"] = True
    lost_nodes.lose_fenced_sessions()
    assert conftest.state_of(session) == "running"

    status = models.AgentStatus.objects.get()
    early = clock.now() - datetime.timedelta(seconds=601)
    models.AgentStatus.objects.update(facts=status.facts | {lost_nodes.COUNTED_FACT: early.isoformat()})
    lost_nodes.lose_fenced_sessions()
    assert conftest.state_of(session) == "pending"


def test_time_in_which_the_controller_did_not_listen_is_no_silence(make_cluster, broker):
    _, session = fenced(make_cluster)
    silence(10_000)
    row = models.Listening.objects.create(
        pk=1, since=clock.now() - datetime.timedelta(seconds=599), last_at=clock.now()
    )
    lost_nodes.lose_fenced_sessions()
    assert conftest.state_of(session) == "running"

    row.since -= datetime.timedelta(seconds=2)
    row.save()
    lost_nodes.lose_fenced_sessions()
    assert conftest.state_of(session) == "pending"


def test_a_broker_that_cannot_be_reached_does_not_answer(monkeypatch):
    monkeypatch.setattr(lost_nodes.current_app.conf, "broker_url", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(lost_nodes.current_app.conf, "broker_write_url", "redis://127.0.0.1:1/0")

    assert not lost_nodes._broker_answers()


def test_an_end_by_the_fence_is_a_loss(make_cluster):
    cluster, session = fenced(make_cluster)

    cluster.agent.send(an_end(session, cause=fields.EndCause.FENCED))

    session.refresh_from_db()
    event = models.Event.objects.filter(session=session, type="session.requeued").last()
    assert (session.state, session.attempt) == ("pending", 2)
    assert event.data["reason"] == "its node was silent and ended it"


def test_every_heartbeat_is_acknowledged_because_silence_may_end_sessions(make_cluster, monkeypatch):
    cluster = make_cluster()
    acknowledged = []
    monkeypatch.setattr(commands, "acknowledge", lambda node, heard: acknowledged.extend(heard))
    cluster.agent.send(messages.Heartbeat())

    assert len(acknowledged) == 1
