"""Key files of agents."""

import json
import stat

import pytest
from django.core.management.base import CommandError

from scheduler import errors, models
from scheduler.management import key_files
from scheduler.services import actors
from tests import model_factories

pytestmark = pytest.mark.django_db
ACTOR = actors.of_command("test")


@pytest.fixture
def node():
    """Make a node."""
    return model_factories.a_node("n1", group=model_factories.a_group())


def test_the_file_is_private_and_holds_the_key_that_was_made(node, tmp_path):
    path = tmp_path / "agents" / "key.json"
    key_files.enroll(ACTOR, node, path)
    content = json.loads(path.read_text())
    row = models.AgentKey.objects.get(node=node)

    assert content == {"node": "n1", "key_id": row.key_id, "secret": bytes(row.secret).hex()}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_there_is_not_written_over_and_no_key_is_made(node, tmp_path):
    path = tmp_path / "key.json"
    path.write_text("precious")

    with pytest.raises(CommandError, match="is there already"):
        key_files.enroll(ACTOR, node, path)
    assert path.read_text() == "precious"
    assert not models.AgentKey.objects.exists()


def test_a_place_that_cannot_be_written_makes_no_key(node, tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(CommandError, match="cannot be written"):
        key_files.enroll(ACTOR, node, tmp_path / "file" / "key.json")
    assert not models.AgentKey.objects.exists()


def test_a_key_that_cannot_be_made_leaves_no_file(node, tmp_path):
    stranger = actors.of_user(model_factories.a_user())

    with pytest.raises(errors.NotAllowed):
        key_files.enroll(stranger, node, tmp_path / "key.json")
    assert list(tmp_path.iterdir()) == []


def test_the_start_command_keeps_state_beside_the_key():
    command = key_files.start_command("n1", "/srv/n1/key.json")

    assert "--node n1" in command
    assert command.endswith("--key-file /srv/n1/key.json --state-dir /srv/n1/state")
