"""Reports: what is forged, repeated, late or without ground changes nothing (P02, P03, P08)."""

from __future__ import annotations

import dataclasses
import json
import random
import uuid

import pytest

from scheduler import clock, models
from scheduler.protocol import messages, signing
from scheduler.services import actors, control, reports
from tests import agent_double
from tests.scheduler.services import conftest, staging

HELD = {"epoch": 1, "state": "running"}


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(**staging.RULES)


def _signed(agent, plain, **header):
    """Sign a body as it stands, whatever the codec would say of it."""
    content = {"v": 1, "key": agent.key.key_id, "dir": "up", "boot": agent.boot, "seq": 10**6, "body": plain}
    content |= header
    return signing._canonical(content | {"sig": signing._signature(content, agent.key)})


def _changed(text, **header):
    return signing._canonical({**json.loads(text), **header})


def _without(text, name):
    content = json.loads(text)
    del content[name]
    return signing._canonical(content)


def _plain(report, **values):
    return {**signing.codec.encode(report), **values}


#: name -> (cluster, other agent, report) -> envelope; each is refused before the database is asked.
REFUSED = {
    "another's key id": lambda c, o, r: _changed(c.agent.sealed(r), key=o.key.key_id),
    "an unknown key id": lambda c, o, r: _changed(c.agent.sealed(r), key="k0"),
    "an empty signature": lambda c, o, r: _changed(c.agent.sealed(r), sig=""),
    "no signature": lambda c, o, r: _without(c.agent.sealed(r), "sig"),
    "another sequence": lambda c, o, r: _changed(c.agent.sealed(r), seq=77),
    "another boot": lambda c, o, r: _changed(c.agent.sealed(r), boot="later"),
    "reordered JSON": lambda c, o, r: json.dumps(dict(reversed(json.loads(c.agent.sealed(r)).items()))),
    "duplicate keys": lambda c, o, r: c.agent.sealed(r).replace('"seq":', '"seq":1,"seq":', 1),
    "a huge epoch": lambda c, o, r: _signed(c.agent, _plain(r, epoch=10**30)),
    "a huge sequence": lambda c, o, r: _signed(c.agent, _plain(r), seq=2**64),
    "a negative epoch": lambda c, o, r: _signed(c.agent, _plain(r, epoch=-1)),
    "an epoch that is a float": lambda c, o, r: _signed(c.agent, _plain(r, epoch=1.0)),
    "an unknown field": lambda c, o, r: _signed(c.agent, _plain(r, node="n1")),
    "the other direction": lambda c, o, r: _signed(c.agent, _plain(r), dir="down"),
    "a revoked key": lambda c, o, r: _revoked(c, r),
}


def _revoked(cluster, report):
    old = agent_double.AgentDouble(cluster.node, boot="old")
    models.AgentKey.objects.filter(key_id=old.key.key_id).update(revoked_at=clock.now())
    return old.sealed(report)


#: The same for what is well signed, but says what this node has no right to say.
GROUNDLESS = {
    "another node's session": lambda c, o, r: o.sealed(r),
    "an old epoch": lambda c, o, r: c.agent.sealed(dataclasses.replace(r, epoch=r.epoch - 1)),
    "a future epoch": lambda c, o, r: c.agent.sealed(dataclasses.replace(r, epoch=r.epoch + 1)),
    "no session": lambda c, o, r: c.agent.sealed(dataclasses.replace(r, session="")),
    "an unknown session": lambda c, o, r: c.agent.sealed(dataclasses.replace(r, session=str(uuid.uuid4()))),
}
NEEDS_COMMAND = {
    "an unknown command": lambda c, o, r: c.agent.sealed(
        dataclasses.replace(r, command_id=str(uuid.uuid4()))
    ),
    "no command": lambda c, o, r: c.agent.sealed(dataclasses.replace(r, command_id="")),
}


@pytest.mark.parametrize("kind", staging.STAGES, ids=lambda kind: kind.TYPE)
def test_p08_a_forged_envelope_changes_nothing_and_costs_one_line(cluster, refused, kind):
    report = staging.stage(cluster, kind)
    other = cluster.join()
    before = staging.picture()
    lines = len(refused())

    for name, forge in REFUSED.items():
        reports.receive(forge(cluster, other, report))
        lines += 1
        assert (name, len(refused())) == (name, lines)

    assert _without_keys(staging.picture()) == _without_keys(before)


def _without_keys(picture):
    return {**picture, "events": [each for each in picture["events"] if each != "node.enrolled"]}


@pytest.mark.parametrize("kind", staging.STAGES, ids=lambda kind: kind.TYPE)
def test_p08_what_a_node_has_no_right_to_say_changes_nothing(cluster, kind):
    report = staging.stage(cluster, kind)
    other = cluster.join()
    before = staging.picture()
    forgeries = GROUNDLESS | ({} if kind in (messages.OutputTail, messages.Ended) else NEEDS_COMMAND)

    for name, forge in forgeries.items():
        reports.receive(forge(cluster, other, report))
        assert (name, staging.picture()) == (name, before)


@pytest.mark.parametrize("kind", staging.STAGES, ids=lambda kind: kind.TYPE)
def test_the_same_report_unforged_has_an_effect(cluster, kind):
    report = staging.stage(cluster, kind)
    before = staging.picture()

    cluster.agent.send(report)

    assert staging.picture() != before


@pytest.mark.parametrize("kind", staging.STAGES, ids=lambda kind: kind.TYPE)
def test_p08_a_replay_changes_nothing_more(cluster, kind):
    text = cluster.agent.send(staging.stage(cluster, kind))
    before = staging.picture()

    reports.receive(text)
    reports.receive(text)

    assert staging.picture() == before


@pytest.mark.parametrize("kind", staging.OTHERWISE, ids=lambda kind: kind.TYPE)
def test_p08_a_settled_command_is_not_answered_in_another_way(cluster, kind):
    report = staging.stage(cluster, kind)
    cluster.agent.send(report)
    before = staging.picture()
    other = staging.OTHERWISE[kind]
    about = {"session": report.session, "epoch": report.epoch, "command_id": report.command_id}

    cluster.agent.send(other(**about, **staging.STAGES[other][1]))

    assert staging.picture() == before


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


@pytest.mark.parametrize("seed", range(8))
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
