"""`group` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from tests import worlds

pytestmark = pytest.mark.django_db


def act(verb, slug="gpu", reason="the power is failing"):
    out = io.StringIO()
    call_command("group", verb, slug, "--reason", reason, stdout=out)
    return out.getvalue()


def test_a_group_stops_starting_and_starts_again_under_the_name_of_the_command():
    group = worlds.a_world().group

    said = act("stop-starting") + act("start-again")

    change = models.ConfigChange.objects.filter(object_name=group.slug).latest("pk")
    assert said == "gpu starts nothing new\ngpu starts sessions again\n"
    assert change.actor_name == "command group"
    assert models.PolicyVersion.objects.filter(group=group).count() == 3


@pytest.mark.parametrize(
    ("verb", "slug", "reason", "fault"),
    [
        ("withdraw-all", "gpu", "because", "Nothing can be taken back"),
        ("start-again", "gpu", "because", "Nothing changes"),
        ("stop-starting", "gpu", " ", "write why"),
        ("stop-starting", "none", "because", "there is no group 'none'"),
    ],
)
def test_what_cannot_be_is_said(verb, slug, reason, fault):
    worlds.a_world()

    with pytest.raises(CommandError, match=fault):
        act(verb, slug, reason)
