"""`agent_keys` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from scheduler.protocol import messages
from tests import agent_double, model_factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent():
    """Make a node with an agent that has spoken."""
    node = model_factories.a_node("n1", group=model_factories.a_group())
    one = agent_double.AgentDouble(node)
    one.hello()
    return one


def keys(*arguments):
    out = io.StringIO()
    call_command("agent_keys", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_the_keys_are_listed_with_the_one_in_use(agent):
    newer = agent_double.AgentDouble(agent.node)
    used, valid = keys("n1")

    assert used.startswith(agent.key.key_id)
    assert used.endswith("the agent signs with it")
    assert valid.startswith(newer.key.key_id)
    assert valid.endswith("valid")


def test_a_key_that_is_revoked_opens_nothing_from_the_next_report_on(agent):
    (line,) = keys("n1", "--revoke", agent.key.key_id, "--reason", "stolen")
    before = models.AgentStatus.objects.get().sequence
    agent.send(messages.Heartbeat())

    assert "revoked" in line
    assert "its agent has no other yet" in line
    assert models.AgentStatus.objects.get().sequence == before
    assert models.ConfigChange.objects.filter(object_type="node key", reason="stolen").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("n2",), "no node 'n2'"),
        (("n1", "--revoke", "k0"), "n1 has no valid key k0"),
    ],
)
def test_what_is_not_there_is_named(agent, arguments, why):
    with pytest.raises(CommandError, match=why):
        keys(*arguments)
