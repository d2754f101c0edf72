"""`node_lost` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import clock, models
from tests import model_factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def node():
    """Make a node of which nothing was heard yet."""
    return model_factories.a_node("n1", group=model_factories.a_group())


def declare(name, reason="it burnt"):
    out = io.StringIO()
    call_command("node_lost", name, "--reason", reason, stdout=out)
    return out.getvalue()


def test_a_silent_node_is_declared_lost_under_the_name_of_the_command(node):
    said = declare("n1")

    node.refresh_from_db()
    change = models.ConfigChange.objects.get()
    assert said == "n1 is down; 0 sessions are counted lost or wait anew\n"
    assert (node.state, change.reason) == ("down", "it burnt")
    assert "node_lost" in change.actor_name


def test_a_node_that_speaks_is_refused(node):
    models.AgentStatus.objects.create(node=node, last_report_at=clock.now())

    with pytest.raises(CommandError, match="has reported within"):
        declare("n1")


def test_a_node_that_is_not_there_is_named(node):
    with pytest.raises(CommandError, match="there is no node 'n2'"):
        declare("n2")
