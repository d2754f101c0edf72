"""`session` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from scheduler.management.commands import session as command
from tests import worlds

pytestmark = pytest.mark.django_db


def act(verb, *ids):
    out = io.StringIO()
    call_command("session", verb, *ids, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("verb", "state", "is_held"),
    [("hold", "pending", True), ("cancel", "terminated", False)],
)
def test_a_waiting_session_obeys_under_the_name_of_the_command(verb, state, is_held):
    waiting = worlds.a_world().waiting

    said = act(verb, str(waiting.public_id))

    waiting.refresh_from_db()
    event = models.Event.objects.filter(session=waiting).latest("number")
    assert said == f"{waiting.public_id} {command.ACTS[verb][1]}\n"
    assert (waiting.state, waiting.is_held, event.actor_name) == (state, is_held, "command session")


@pytest.mark.parametrize(("verb", "goal"), [("suspend", "suspend"), ("requeue", "reschedule")])
def test_a_running_session_is_told_to_stop(verb, goal):
    running = worlds.a_world().running

    act(verb, str(running.public_id))

    running.refresh_from_db()
    assert (running.state, running.stop_goal) == ("stopping", goal)


def test_a_held_one_that_is_suspended_may_go_on():
    victim = worlds.a_world().victim
    act("hold", str(victim.public_id))

    act("resume", str(victim.public_id))

    assert not models.Session.objects.get(pk=victim.pk).is_held


def test_each_that_cannot_be_is_named_and_the_others_are_done():
    world = worlds.a_world()
    nobody = "00000000-0000-0000-0000-000000000000"

    with pytest.raises(CommandError) as caught:
        act("suspend", "x", nobody, str(world.waiting.public_id), str(world.running.public_id))

    assert str(caught.value).splitlines() == [
        "x: there is no such session",
        f"{nobody}: there is no such session",
        f"{world.waiting.public_id}: A session that is pending cannot be suspended.",
    ]
    assert models.Session.objects.get(pk=world.running.pk).state == "stopping"
