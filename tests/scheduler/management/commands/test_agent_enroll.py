"""`agent_enroll` from the command line."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from tests import model_factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def node():
    """Make a node."""
    return model_factories.a_node("n1", group=model_factories.a_group())


def enroll(*arguments):
    out = io.StringIO()
    call_command("agent_enroll", *arguments, stdout=out)
    return out.getvalue()


def test_with_a_key_file_the_secret_is_in_the_file_alone(tmp_path):
    said = enroll("n1", "--key-file", str(tmp_path / "key.json"))
    secret = json.loads((tmp_path / "key.json").read_text())["secret"]

    assert secret == bytes(models.AgentKey.objects.get().secret).hex()
    assert secret not in said
    assert f"--key-file {tmp_path}/key.json" in said


def test_without_a_file_the_key_is_shown_once(node):
    said = enroll("n1")

    assert bytes(models.AgentKey.objects.get(node=node).secret).hex() in said
    assert "python -m scheduler.agent --node n1" in said


def test_an_unknown_node_is_named_with_those_that_are_known():
    with pytest.raises(CommandError, match="there is no node 'n2'; known nodes: n1"):
        enroll("n2")
