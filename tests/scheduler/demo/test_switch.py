"""The newest entry of the audit log decides about the stream."""

import pytest

from scheduler import models
from scheduler.demo import switch
from scheduler.services import actors

pytestmark = pytest.mark.django_db
ACTOR = actors.of_command("test")


def test_an_installation_without_a_demo_has_no_stream():
    assert not switch.is_on()
    assert not switch.was_ever_set()


def test_the_last_word_counts():
    for on in (True, False, True):
        switch.turn(ACTOR, on=on, reason="as asked")

        assert switch.is_on() == on


def test_every_turn_is_audited_with_its_reason():
    switch.turn(ACTOR, on=True, reason="for the visitors")
    entry = models.ConfigChange.objects.get(object_type="demo")

    assert (entry.before, entry.after, entry.reason) == ({"on": False}, {"on": True}, "for the visitors")
    assert entry.actor_name == "command test"
