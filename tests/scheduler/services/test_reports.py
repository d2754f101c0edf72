"""Reports: what is repeated, late or without ground changes nothing (P02, P03, P08)."""

from __future__ import annotations

import dataclasses
import os
import random
import uuid

import pytest

from scheduler import clock, models
from scheduler.protocol import messages
from scheduler.services import actors, control, reports
from tests import agent_double
from tests.scheduler.services import conftest, staging

HELD = {"epoch": 1, "state": "running"}


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(**staging.RULES)


@pytest.mark.parametrize("kind", staging.STAGES, ids=lambda kind: kind.TYPE)
def test_the_same_report_unforged_has_an_effect(cluster, kind):
    report = staging.stage(cluster, kind)
    before = staging.picture()

    cluster.agent.send(report)

    assert staging.picture() != before


def test_p08_an_end_that_answers_an_unknown_command_changes_nothing(cluster, refused):
    report = staging.stage(cluster, messages.Ended)
    before = staging.picture()

    cluster.agent.send(dataclasses.replace(report, command_id=str(uuid.uuid4())))

    assert staging.picture() == before
    assert refused() == ["report ended of n1 answers no command of ours"]


def test_p08_the_hello_of_one_node_does_nothing_to_the_sessions_of_another(cluster):
    session = staging.running(cluster)
    other = cluster.join()
    held = messages.HeldSession(session=str(session.public_id), **HELD)
    before = staging.picture()

    other.hello(held)

    after = staging.picture()
    assert {**after, "events": []} == {**before, "events": []}
    assert conftest.state_of(session) == "running"


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "x" * 300_000, '{"v":1}', "\ud800"])
def test_p08_anything_may_arrive(cluster, refused, text):
    reports.receive(text)

    assert len(refused()) == 1


def test_a_nul_in_a_text_is_kept_as_a_replacement(cluster):
    report = staging.stage(cluster, messages.StartFailed)

    cluster.agent.send(dataclasses.replace(report, error="bad \x00 name"))

    assert models.Event.objects.get(type="session.dispatch_undone").data["error"] == "bad \ufffd name"


def test_a_report_whose_transition_is_forbidden_settles_its_command(cluster):
    report = staging.stage(cluster, messages.Started)
    models.Session.objects.update(state="suspended", is_counted=True)

    cluster.agent.send(dataclasses.replace(report))

    models.Session.objects.update(state="scheduled")
    assert models.AgentCommand.objects.get().settled_how == "started"
    models.Session.objects.update(state_deadline=clock.now())


class Echoing(agent_double.AgentDouble):
    """An agent whose broker delivers again, at random, what it has delivered before."""

    def __init__(self, node, seed):
        super().__init__(node)
        self.delivered = []
        self.choice = random.Random(seed)

    def send(self, report):
        text = super().send(report)
        self.delivered.append(text)
        for again in self.choice.choices(self.delivered, k=3):
            reports.receive(again)
        return text


def _story(cluster):
    """A life with a suspend, a resume, a failed start, a withdrawal and a requeue."""
    low, high = cluster.contest()
    cluster.agent.suspends(low)
    cluster.round()
    cluster.agent.fails_to_start(high)
    cluster.round()
    cluster.agent.starts(high)
    cluster.agent.ends(high)
    cluster.round()
    cluster.agent.resumes(low)
    third = cluster.submit(cluster.alice, cpu="4", job_priority=30)
    cluster.round()
    control.cancel_session(actors.of_user(cluster.alice), third)
    cluster.agent.withdraws(low)
    control.requeue_session(actors.of_user(cluster.alice), low)
    cluster.agent.ends(low, None, by=messages.StopCommand, signal=15)
    cluster.agent.hello()


@pytest.mark.parametrize("seed", range(40 if os.environ.get("XCE_NIGHT") else 3))
def test_p03_reports_delivered_again_and_out_of_order_change_nothing_more(make_cluster, seed):
    cluster = make_cluster(**staging.RULES)
    cluster.agent = Echoing(cluster.node, seed)

    _story(cluster)

    sessions = list(models.Session.objects.order_by("pk").values_list("state", "attempt", "epoch"))
    assert sessions == [("pending", 2, 2), ("terminated", 1, 2), ("terminated", 1, 0)]
    assert models.Event.objects.filter(type="session.suspended").count() == 1
    assert models.Event.objects.filter(type="node.joined").count() == 1
    assert cluster.slot() == (0, 0)
    assert not models.AgentCommand.objects.filter(settled_at=None).exists()


def test_p03_the_end_of_the_story_can_be_told_backwards(make_cluster):
    cluster = make_cluster(**staging.RULES)
    cluster.agent = Echoing(cluster.node, 0)
    _story(cluster)
    before = staging.picture()

    for text in reversed(cluster.agent.delivered):
        reports.receive(text)

    assert staging.picture() == before
