"""The checker is tested too: every planted fault is found, and a sound database has no findings."""

from __future__ import annotations

import pytest
from django.db import transaction

from scheduler import clock, models
from scheduler.selectors import consistency
from tests import model_factories, worlds


@pytest.fixture
def sound(world: worlds.World) -> worlds.World:
    """The world, with what became of its preemption."""
    models.VictimFate.objects.create(victim=models.Victim.objects.get(), fate="stopped", at=clock.now())
    models.Outcome.objects.create(decision=world.decision, kind="used", at=clock.now())
    assert consistency.findings() == []
    return world


def _device(world):
    models.NodeDevice.objects.filter(node=world.node, index=3).update(session=world.running)


def _reservation_of_a_dead(world):
    model_factories.a_session(owner=world.people["owner"], queue=world.queues["normal"], state="terminated")
    dead = models.Session.objects.get(state="terminated")
    models.Reservation.objects.create(
        decision=world.decision, session=dead, node=world.node, slots={}, deadline=clock.now()
    )


PLANTED = {
    "an over-allocated slot": (
        lambda w: models.NodeSlot.objects.filter(kind="cpu").update(allocated=7),
        "allocated 7",
    ),
    "a reserved slot that nobody drew": (
        lambda w: models.NodeSlot.objects.filter(kind="cpu").update(reserved=7),
        "reserved 7",
    ),
    "a device without an allocation": (_device, "device cuda.device 3"),
    "an owner's wrong use": (lambda w: models.OwnerUsage.objects.update(used=99), "usage of owner"),
    "a queue's wrong use": (lambda w: models.QueueUsage.objects.update(used=99), "usage of queue"),
    "a waiting session that holds a node": (
        lambda w: models.Session.objects.filter(pk=w.running.pk).update(state="pending"),
        "is pending and holds a node",
    ),
    "a running session that holds none": (
        lambda w: models.Session.objects.filter(pk=w.waiting.pk).update(state="running"),
        "is running and holds no node",
    ),
    "a waiting session that counts": (
        lambda w: models.Session.objects.filter(pk=w.waiting.pk).update(is_counted=True),
        "is pending and counts as running",
    ),
    "a transition without a deadline": (
        lambda w: models.Session.objects.filter(pk=w.running.pk).update(state="stopping"),
        "is stopping without a deadline",
    ),
    "a reservation for a session that is over": (_reservation_of_a_dead, "for a session that is over"),
    "an event that is lost": (lambda w: models.EventCounter.objects.update(last=99), "the event counter"),
}


@pytest.mark.parametrize(("plant", "text"), PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_fault_is_found(sound, plant, text):
    with transaction.atomic():
        plant(sound)
        found = consistency.findings()
        transaction.set_rollback(True)

    assert any(text in finding for finding in found)


def test_a_victim_without_fate_is_found_and_a_decision_whose_victims_have_theirs_and_no_outcome(world):
    (found,) = consistency.findings()
    assert "has no fate" in found
    models.VictimFate.objects.create(victim=models.Victim.objects.get(), fate="stopped", at=clock.now())

    (found,) = consistency.findings()

    assert "has neither a reservation nor an outcome" in found


def test_what_is_in_transition_is_told_apart(sound):
    assert consistency.unsettled() == []
    models.Session.objects.filter(pk=sound.running.pk).update(state="terminating", state_deadline=clock.now())

    assert consistency.unsettled() == [f"session {sound.running.public_id} is terminating"]
