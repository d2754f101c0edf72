"""Keys of nodes: a new one is made, taken up and the old one revoked, while everything runs (P08)."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.protocol import messages
from scheduler.services import actors, commands, nodes
from tests import agent_double
from tests.scheduler.services import conftest


@pytest.fixture
def cluster(make_cluster):
    cluster = make_cluster()
    cluster.agent.hello()
    return cluster


def _signing_key(cluster):
    peer = commands.find_peer(cluster.node.pk)
    return peer.key.key_id if peer else None


def test_p08_the_agent_is_spoken_to_with_the_key_that_it_has_until_it_uses_the_new_one(cluster):
    old = cluster.agent.key.key_id
    successor = agent_double.AgentDouble(cluster.node, boot="boot-2")
    before = _signing_key(cluster)

    successor.hello()

    assert (before, _signing_key(cluster)) == (old, successor.key.key_id)


def test_p08_a_key_is_changed_while_a_session_runs_and_the_old_one_opens_nothing_any_more(cluster, refused):
    session = cluster.run(cluster.alice)
    old = cluster.agent
    cluster.agent = agent_double.AgentDouble(cluster.node, boot="boot-2")
    cluster.agent.hello(messages.HeldSession(session=str(session.public_id), epoch=1, state="running"))
    nodes.revoke_key(actors.SYSTEM, cluster.node, old.key.key_id)

    old.ends(session)
    state = conftest.state_of(session)
    cluster.agent.ends(session)

    assert (state, conftest.state_of(session)) == ("running", "terminated")
    assert refused() == ["report refused: unknown-key: no accepted key has this id"]


def test_p08_the_key_in_use_is_revoked_at_once_in_both_directions(cluster, refused):
    nodes.revoke_key(actors.SYSTEM, cluster.node, cluster.agent.key.key_id)
    cluster.agent.hello()

    assert _signing_key(cluster) is None
    assert len(refused()) == 1


def test_a_revocation_is_recorded_and_told(cluster):
    key_id = cluster.agent.key.key_id
    nodes.revoke_key(actors.SYSTEM, cluster.node, key_id, reason="stolen")

    change = models.ConfigChange.objects.get(object_type="node key", reason="stolen")
    assert (change.object_name, change.before, change.after) == ("n1", {"key": key_id}, {})
    assert models.Event.objects.filter(type="node.key_revoked").exists()


@pytest.mark.parametrize("twice", [False, True])
def test_a_key_that_is_not_there_or_no_longer_valid_cannot_be_revoked(cluster, twice):
    key_id = cluster.agent.key.key_id if twice else "k0"
    if twice:
        nodes.revoke_key(actors.SYSTEM, cluster.node, key_id)

    with pytest.raises(errors.Refusal) as caught:
        nodes.revoke_key(actors.SYSTEM, cluster.node, key_id)
    assert caught.value.code == "unknown-key"


def test_only_an_administrator_revokes_a_key(cluster):
    with pytest.raises(errors.NotAllowed):
        nodes.revoke_key(actors.of_user(cluster.alice), cluster.node, cluster.agent.key.key_id)
