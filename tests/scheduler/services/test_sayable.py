"""Whatever may be submitted can be ordered from an agent, and what cannot be ordered holds nobody else up."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.protocol import errors as protocol_errors
from scheduler.protocol import messages, signing
from scheduler.services import commands, sayable
from tests import model_factories
from tests.scheduler.services import conftest

#: The most that each value of a request may be, alone.
LARGEST = [
    {"argv": ["/bin/ls"] + ["x"] * 4095},
    {"argv": ["/bin/ls"] + ["x" * 4096] * 50},
    {"argv": [], "script": "#!/bin/sh\n" + "\u20ac" * 65_526},
    {"environment": {f"V{n}": "x" for n in range(999)}},
    {"environment": {"V" * 1000: "x" * 131_072}},
    {"workdir": "/" + "x" * 1023},
    {"wall_limit": 316_224_000, "grace_period": 86_400, "port": 65_535},
    {"name": "\u20ac" * 100, "slots": {"cpu": "4"}},
]


@pytest.fixture
def cluster(make_cluster):
    return make_cluster()


@pytest.mark.parametrize("wanted", LARGEST, ids=[" ".join(each) for each in LARGEST])
def test_the_largest_that_may_be_submitted_is_ordered_and_fits_into_an_envelope(cluster, wanted):
    session = cluster.submit(cluster.alice, **wanted)
    cluster.round()

    (command,) = cluster.agent.open_commands()
    text = signing.seal(command, key=cluster.agent.key, boot=commands.BOOT, seq=1, version=messages.VERSION)
    assert conftest.state_of(session) == "scheduled"
    assert len(text.encode()) <= signing.SIZE_LIMIT


def test_the_names_of_many_nodes_count(cluster):
    for number in range(20):
        model_factories.a_node("n" * 48 + f"{number:02}", group=cluster.group, capacity={"cpu": 4000})
    largest = {"environment": {"A": "x" * 131_072, "B": "x" * 128_800}}

    cluster.submit(cluster.alice, **largest)
    with pytest.raises(errors.Refusal, match="too large"):
        cluster.submit(cluster.alice, node_count=20, **largest)


@pytest.mark.parametrize(
    "stored",
    [
        {"argv": ["/bin/ls"] * 5000},
        {"environment": {f"V{n}": "" for n in range(2000)}},
        {"environment": {f"V{n}": "x" * 100_000 for n in range(3)}},
        {"wall_limit": 400_000_000},
    ],
    ids=["arguments", "variables", "size", "wall limit"],
)
def test_a_start_that_cannot_be_ordered_holds_its_session_alone_and_says_why(cluster, stored):
    before, bad, after = (cluster.submit(cluster.alice, cpu="1") for _ in range(3))
    models.Session.objects.filter(pk=bad.pk).update(**stored)

    summary = cluster.round()
    again = cluster.round()

    bad.refresh_from_db()
    assert (summary.dispatched, summary.dropped, again.dropped) == (2, 1, 0)
    assert [conftest.state_of(one) for one in (before, bad, after)] == ["scheduled", "pending", "scheduled"]
    assert bad.is_held
    assert cluster.slot() == (2000, 0)
    held = models.Event.objects.get(type="session.held")
    assert (held.session_id, held.data["reason"]) == (bad.pk, "cannot-be-ordered")
    assert held.data["why"].split(":")[0] in (
        "too-large",
        "out-of-range",
        "too-long",
        "invalid-value",
        "too-many",
    )


def test_room_that_was_made_for_it_is_given_back(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    victim, preemptor = cluster.contest()
    models.Session.objects.filter(pk=preemptor.pk).update(wall_limit=400_000_000)
    cluster.agent.suspends(victim)

    cluster.round()
    cluster.round()

    assert not models.Reservation.objects.exists()
    assert models.Session.objects.get(pk=preemptor.pk).is_held


def test_a_command_that_cannot_be_said_keeps_no_other_back(cluster, monkeypatch):
    one, two = (cluster.submit(cluster.alice, cpu="1") for _ in range(2))
    cluster.round()
    said = []

    def publish(message, peer, *, seq):
        if message.session == str(one.public_id):
            raise protocol_errors.ProtocolError("too-large")
        said.append(message.session)

    monkeypatch.setattr(commands, "_publish", publish)
    commands.send(list(models.AgentCommand.objects.values_list("pk", flat=True)))

    assert said == [str(two.public_id)]
    assert set(models.AgentCommand.objects.values_list("times_sent", flat=True)) == {1}


def test_the_size_is_that_of_the_body():
    start = messages.StartCommand(
        command_id="0" * 8 + "-0000-0000-0000-" + "0" * 12,
        session="0" * 8 + "-0000-0000-0000-" + "0" * 12,
        epoch=1,
        attempt=1,
        argv=("x",),
        env={"A": "x" * 131_000, "B": "\u20ac" * 44_000},
    )
    with pytest.raises(protocol_errors.ProtocolError, match="too-large"):
        sayable.encode(start)
