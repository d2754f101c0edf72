"""`node` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from tests import worlds

pytestmark = pytest.mark.django_db


def act(verb, name="gpu-1", *rest):
    out = io.StringIO()
    call_command("node", verb, name, *rest, stdout=out)
    return out.getvalue()


def test_draining_is_previewed_without_a_change():
    node = worlds.a_world().node

    lines = act("preview").splitlines()

    node.refresh_from_db()
    assert [int(line.split()[0]) for line in lines] == [1, 1, 0, 0]
    assert node.state == "ready"


def test_a_node_is_drained_and_made_ready_with_a_reason():
    node = worlds.a_world().node
    said = act("drain", "gpu-1", "--reason", "new fan")
    node.refresh_from_db()
    drained = node.state, node.state_reason

    said += act("ready", "gpu-1", "--reason", "it turns")

    node.refresh_from_db()
    assert (drained, node.state) == (("draining", "new fan"), "ready")
    assert said == "gpu-1 is draining\ngpu-1 is ready\n"


@pytest.mark.parametrize(
    ("arguments", "fault"), [(("drain", "gpu-1"), "write why"), (("drain", "x"), "there is no node 'x'")]
)
def test_what_cannot_be_is_said(arguments, fault):
    worlds.a_world()

    with pytest.raises(CommandError, match=fault):
        act(*arguments)
