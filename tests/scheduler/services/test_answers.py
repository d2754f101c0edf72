"""Which report answers which command."""

from __future__ import annotations

import pytest

from scheduler import clock, models
from scheduler.protocol import messages
from scheduler.services import actors, answers, control
from tests.scheduler.services import staging

Standing = answers.Standing


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(**staging.RULES)


def _take(cluster, report):
    session = models.Session.objects.get(public_id=report.session)
    return answers.take(session, cluster.node, report, now=clock.now())


def test_the_first_answer_is_evidence_and_the_second_a_repetition(cluster):
    report = staging.stage(cluster, messages.Stopped)

    assert _take(cluster, report) is Standing.EVIDENCE
    assert _take(cluster, report) is Standing.REPEATED


def test_the_answer_to_a_superseded_command_is_evidence_once(cluster):
    report = staging.stage(cluster, messages.Started)
    session = models.Session.objects.get(public_id=report.session)
    control.cancel_session(actors.of_user(cluster.alice), session)

    assert _take(cluster, report) is Standing.EVIDENCE
    assert _take(cluster, report) is Standing.REPEATED


def test_a_stop_is_not_answered_by_a_start(cluster):
    stop = staging.stage(cluster, messages.Stopped)
    about = {"session": stop.session, "epoch": stop.epoch, "command_id": stop.command_id}

    report = messages.Started(**about, pid=1, started_mono_ms=1, boot="b")

    assert _take(cluster, report) is Standing.UNFOUNDED
    assert models.AgentCommand.objects.get(command_id=stop.command_id).settled_at is None


def test_every_kind_of_command_has_its_answers():
    assert set(answers._POSSIBLE) == set(models.AgentCommand.Kind)
