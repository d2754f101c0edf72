"""What sessions take and give back: slots, devices, usage of owner and queue."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.core import decisions, resources
from scheduler.services import ledger
from tests import model_factories


@pytest.fixture
def node(make_cluster):
    cluster = make_cluster()
    return cluster.node


@pytest.fixture
def session(node):
    owner, queue = models.User.objects.get(username="alice"), models.Queue.objects.get(slug="normal")
    slots = {"cpu": 2000, "cuda.device": 2}
    return model_factories.a_session(owner=owner, queue=queue, slots=slots)


def _charge(session, node, indices=(1, 2)):
    grant = decisions.NodeGrant(
        node.pk, resources.ResourceVector(session.slots), {"cuda.device": tuple(indices)}
    )
    ledger.charge(session, (grant,), now=session.submitted_at)


def _node(node):
    slots = {row.kind: row.allocated for row in node.slots.all()}
    devices = list(node.devices.exclude(session=None).values_list("index", flat=True))
    return slots, devices


def _used(session):
    return dict(models.OwnerUsage.objects.filter(owner=session.owner).values_list("kind", "used"))


def _release(session):
    ledger.release_all(session)


def test_a_charge_takes_slots_devices_usage_and_one_session(node, session):
    _charge(session, node)

    assert _node(node) == ({"cpu": 2000, "cuda.device": 2}, [1, 2])
    assert _used(session) == {"cpu": 2000, "cuda.device": 2, "sessions": 1}
    assert dict(models.QueueUsage.objects.values_list("kind", "used")) == _used(session)
    _release(session)


def test_releasing_all_leaves_nothing(node, session):
    _charge(session, node)

    node_ids = ledger.release_all(session)

    assert node_ids == [node.pk]
    assert _node(node) == ({"cpu": 0, "cuda.device": 0}, [])
    assert set(_used(session).values()) == {0}
    assert not session.allocations.exists()


def test_releasing_some_kinds_keeps_the_others_and_counts_no_session(node, session):
    _charge(session, node)

    ledger.release_kinds(session, ["cpu"])

    assert _node(node) == ({"cpu": 0, "cuda.device": 2}, [1, 2])
    assert _used(session) == {"cpu": 0, "cuda.device": 2, "sessions": 0}
    _release(session)


def test_a_resume_gets_the_same_node_and_indices_back(node, session):
    _charge(session, node, indices=(0, 3))
    ledger.release_kinds(session, None)

    ledger.charge_resume(session)

    assert session.allocations.get().indices == {"cuda.device": [0, 3]}
    assert _node(node) == ({"cpu": 2000, "cuda.device": 2}, [0, 3])
    assert session.is_counted
    _release(session)


def test_a_resume_takes_back_only_what_its_stop_had_released(node, session):
    _charge(session, node)
    ledger.release_kinds(session, ["cpu"])

    ledger.charge_resume(session)

    assert _node(node) == ({"cpu": 2000, "cuda.device": 2}, [1, 2])
    _release(session)


def test_a_device_that_somebody_else_holds_is_not_given_twice(node, session):
    _charge(session, node, indices=(0, 1))
    other = model_factories.a_session(owner=session.owner, queue=session.queue, slots=session.slots)
    models.Session.objects.filter(pk=session.pk).update(state="running")

    with pytest.raises(errors.StaleState, match="promised"):
        ledger._take_devices(other, node.pk, {"cuda.device": [1, 2]})

    models.NodeDevice.objects.filter(session=other).update(session=None)
    models.Session.objects.filter(pk=session.pk).update(state="pending")
    _release(session)


def test_an_unknown_kind_is_a_violation(node):
    with pytest.raises(errors.Violation, match="no slots of kind tpu"):
        ledger.draw_slots(node.pk, {"tpu": 1})
