"""
What an agent cannot do with another's sessions, with its own past, or with a key that is not its own (P08).

Fourteen forgeries of every report, then valid reports that were damaged, then a node that is hostile and signs well.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import os
import random
import uuid

import pytest

from scheduler import clock, models
from scheduler.protocol import codec, messages, signing
from scheduler.services import reports
from tests import agent_double
from tests.scheduler.services import staging

IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))
DAMAGED = 50_000 if IS_NIGHT else 2_000
HOSTILE = 5_000 if IS_NIGHT else 300
NODE_WIDE = (messages.Hello, messages.Heartbeat)


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(**staging.RULES)


@pytest.fixture
def lines():
    """Count the lines of the security log, of whatever level."""
    found = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())
    log = logging.getLogger("xce.security")
    before = log.level
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    yield found
    log.removeHandler(handler)
    log.setLevel(before)


class Forger:
    """Makes forgeries of one staged report; `agent` is the one of its node, `other` that of another."""

    def __init__(self, cluster, kind):
        self.report = staging.stage(cluster, kind)
        self.agent, self.other = cluster.agent, cluster.join()
        self.kind = kind
        self.session = models.Session.objects.order_by("pk").first()
        self.legitimate = ""

    def respelled(self, **header):
        """Change the envelope without signing it again."""
        return signing._canonical({**json.loads(self.agent.sealed(self.report)), **header})

    def signed(self, **values):
        """Sign a body as it stands, whatever the codec would say of it."""
        return sign(self.agent, {**codec.encode(self.report), **values})

    def of_epoch(self, change):
        """Speak of an older or a later epoch."""
        if self.kind not in NODE_WIDE:
            return self.agent.sealed(dataclasses.replace(self.report, epoch=self.report.epoch + change))
        models.Session.objects.filter(pk=self.session.pk).update(epoch=3)
        held = dataclasses.replace(self.report.sessions[0], epoch=3 + 2 * change)
        return self.agent.sealed(dataclasses.replace(self.report, sessions=(held,)))

    def shifted(self):
        """Move the time of a report that was signed."""
        body = json.loads(self.agent.sealed(self.report))["body"]
        return self.respelled(body={**body, "at_mono_ms": body["at_mono_ms"] + 3_600_000})

    def stripped(self):
        content = json.loads(self.agent.sealed(self.report))
        del content["sig"]
        return signing._canonical(content)

    def as_the_other(self):
        """Let the other node greet as if it were this one, holding its session."""
        about = {"session": str(self.session.public_id), "epoch": self.session.epoch}
        held = messages.HeldSession(**about, state="running")
        return self.other.sealed(messages.Hello(**staging.OTHERS[messages.Hello], sessions=(held,)))

    def another_result(self):
        """Answer what was answered already, or greet of an earlier time."""
        late = self.agent.sealed(self._otherwise())
        self.legitimate = self.agent.send(self.report)
        return late

    def _otherwise(self):
        other = staging.OTHERWISE.get(self.kind)
        if other is not None:
            about = {name: getattr(self.report, name) for name in ("session", "epoch", "command_id")}
            return other(**about, **staging.STAGES[other][1])
        changes = {messages.Ended: {"exit_code": 9}, messages.OutputTail: {"tail": "x", "size": 1}}
        return dataclasses.replace(self.report, at_mono_ms=1, **changes.get(self.kind, {}))


#: The forgeries of RELIABILITY's P08, in its words; the last two let the report itself come before.
FORGERIES = {
    "other node's session": lambda f: f.other.sealed(f.report),
    "old epoch": lambda f: f.of_epoch(-1),
    "future epoch": lambda f: f.of_epoch(+1),
    "unknown order": lambda f: f.agent.sealed(dataclasses.replace(f.report, command_id=str(uuid.uuid4()))),
    "shifted time": lambda f: f.shifted(),
    "wrong key id": lambda f: f.respelled(key=f.other.key.key_id),
    "stripped signature": lambda f: f.stripped(),
    "reordered JSON": lambda f: json.dumps(dict(reversed(json.loads(f.agent.sealed(f.report)).items()))),
    "duplicate keys": lambda f: f.agent.sealed(f.report).replace('"seq":', '"seq":1,"seq":', 1),
    "huge numbers": lambda f: f.signed(epoch=10**30),
    "other node's hello": lambda f: f.as_the_other(),
    "capacity claims": lambda f: f.signed(capacity={"cpu": 10**6}),
    "settled order with another result": lambda f: f.another_result(),
    "replay": lambda f: f.legitimate,
}
#: Further ways to say the same.
MORE = {
    "unknown key id": lambda f: f.respelled(key="k0"),
    "empty signature": lambda f: f.respelled(sig=""),
    "another sequence": lambda f: f.respelled(seq=77),
    "another boot": lambda f: f.respelled(boot="later"),
    "huge sequence": lambda f: sign(f.agent, codec.encode(f.report), seq=2**64),
    "negative epoch": lambda f: f.signed(epoch=-1),
    "float": lambda f: f.signed(epoch=1.0),
    "other direction": lambda f: sign(f.agent, codec.encode(f.report), dir="down"),
    "later version": lambda f: sign(f.agent, codec.encode(f.report), v=messages.VERSION + 1),
    "revoked key": lambda f: revoked(f.agent.node, f.report),
    "unknown session": lambda f: f.agent.sealed(dataclasses.replace(f.report, session=str(uuid.uuid4()))),
}


def sign(agent, plain, **header):
    content = {"v": messages.VERSION, "key": agent.key.key_id, "dir": "up", "boot": agent.boot, "seq": 10**6}
    content |= {"body": plain, **header}
    return signing._canonical(content | {"sig": signing._signature(content, agent.key)})


def revoked(node, report):
    old = agent_double.AgentDouble(node, boot="old")
    models.AgentKey.objects.filter(key_id=old.key.key_id).update(revoked_at=clock.now())
    return old.sealed(report)


def picture():
    """Return what reports about sessions can change; what a node says of itself is its own."""
    seen = staging.picture()
    return {**seen, "events": [name for name in seen["events"] if not name.startswith("node.")]}


@pytest.mark.parametrize("kind", staging.KINDS, ids=lambda kind: kind.TYPE)
def test_p08_no_forgery_of_a_report_changes_anything_and_each_costs_one_line(cluster, lines, kind):
    forger = Forger(cluster, kind)

    for name, forge in {**MORE, **FORGERIES}.items():
        text = forge(forger)
        before, told = picture(), len(lines)
        reports.receive(text)
        assert (name, lines[told:][1:], len(lines) - told) == (name, [], 1)
        assert (name, picture()) == (name, before)


def test_p08_there_are_fourteen_forgeries_and_every_report_is_forged():
    assert len(FORGERIES) == 14
    assert set(staging.KINDS) == set(messages.REPORTS)


def valid_texts(cluster):
    """Return one valid envelope of each kind about a session of the first node, none of them delivered."""
    report = staging.stage(cluster, messages.Ended)
    about = {"session": report.session, "epoch": report.epoch, "command_id": report.command_id}
    held = (messages.HeldSession(session=report.session, epoch=report.epoch, state="running"),)
    texts = []
    for kind in staging.KINDS:
        facts = staging.OTHERS.get(kind) or staging.STAGES.get(kind, (None, {}))[1]
        more = {"sessions": held} if kind in NODE_WIDE else about
        texts.append(cluster.agent.sealed(kind(**more, **facts)))
    return texts


def damaged(text, other, chance):
    """Return a text in which one thing is not as it was."""
    at, to = sorted(chance.randrange(len(text)) for _ in range(2))
    letter = chance.choice('"{}[],:0123456789abcdefk\\ \u00e9\u0000\ud800')
    ways = (
        lambda: text[:at] + letter + text[at + 1 :],
        lambda: text[:at] + letter + text[at:],
        lambda: text[:at] + text[to:],
        lambda: text[:to] + text[at:],
        lambda: text[:at] + other[at:],
        lambda: text[:at],
        lambda: text.replace(str(chance.randrange(10)), letter, 1),
        lambda: text[at:to] + text[:at] + text[to:],
    )
    return chance.choice(ways)()


@pytest.mark.timeout(1800 if IS_NIGHT else 120)
def test_p08_damaged_reports_change_nothing_and_raise_nothing(cluster, lines):
    texts = valid_texts(cluster)
    chance = random.Random(8)
    before, sent = picture(), 0

    while sent < DAMAGED:
        text = chance.choice(texts)
        worse = damaged(text, chance.choice(texts), chance)
        if worse not in texts:
            reports.receive(worse)
            sent += 1

    assert len(lines) == DAMAGED
    assert picture() == before


STRANGE = (
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63 - 1,
    2**63,
    "",
    "\u0000",
    "x" * 3000,
    [],
    {},
    [[]],
    {"a": 1},
    "running",
)


def twisted(plain, chance):
    """Return a body in which some values, deep or not, are strange."""
    plain = json.loads(json.dumps(plain))
    for _ in range(chance.randint(1, 3)):
        place = plain
        while chance.random() < 0.5 and (
            inner := [v for v in place.values() if isinstance(v, dict)] + _members(place)
        ):
            place = chance.choice(inner)
        name = chance.choice([*place, "more"])
        if chance.random() < 0.2:
            place.pop(name, None)
        else:
            place[name] = copy.deepcopy(chance.choice(STRANGE))
    return plain


def _members(place):
    return [
        item
        for value in place.values()
        if isinstance(value, list)
        for item in value
        if isinstance(item, dict)
    ]


@pytest.mark.timeout(1800 if IS_NIGHT else 120)
def test_p08_a_hostile_node_cannot_reach_the_sessions_of_another(cluster):
    bodies = [json.loads(text)["body"] for text in valid_texts(cluster)]
    other = cluster.join()
    chance = random.Random(88)
    before = picture()

    for number in range(HOSTILE):
        reports.receive(sign(other, twisted(chance.choice(bodies), chance), seq=number + 1))

    assert picture() == before


@pytest.mark.timeout(1800 if IS_NIGHT else 120)
def test_p08_a_hostile_node_can_harm_its_own_sessions_alone_and_nothing_is_raised(cluster):
    bodies = [json.loads(text)["body"] for text in valid_texts(cluster)]
    cluster.join()
    bystander = cluster.submit(cluster.bob, cpu="4")
    cluster.round()
    chance = random.Random(888)

    for number in range(HOSTILE):
        reports.receive(sign(cluster.agent, twisted(chance.choice(bodies), chance), seq=10**7 + number))

    bystander.refresh_from_db()
    assert bystander.state == "scheduled"
    assert bystander.epoch == 1
