"""The snapshot of one group: everything that a round may know, in a fixed number of queries."""

from __future__ import annotations

import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduler import clock, models
from scheduler.core import entities
from scheduler.selectors import session_rows, snapshot
from tests import model_factories, worlds


def _load(world: worlds.World, **more):
    return snapshot.load_snapshot(world.group, **more)


def _seen(world: worlds.World, session: models.Session) -> entities.Session:
    return next(s for s in _load(world).snapshot.sessions if s.id == session.pk)


def test_the_number_of_queries_does_not_grow(world):
    with CaptureQueriesContext(connection) as few:
        _load(world)
    for _ in range(5):
        model_factories.a_session(owner=world.people["owner"], queue=world.queues["normal"])
        model_factories.a_node(group=world.group)

    with CaptureQueriesContext(connection) as many:
        _load(world)

    assert len(few) == len(many)


def test_sessions_that_are_over_and_those_of_other_groups_are_left_out(world):
    owner = world.people["owner"]
    model_factories.a_session(owner=owner, queue=world.queues["normal"], state="terminated")
    model_factories.a_session(owner=owner, queue=world.queues["other"])

    ids = {session.id for session in _load(world).snapshot.sessions}

    assert ids == {world.running.pk, world.waiting.pk, world.victim.pk}


def test_nodes_come_with_capacity_devices_and_labels(world):
    world.node.labels = {"zone": "a"}
    world.node.save()

    (node,) = _load(world).snapshot.nodes

    assert node.capacity.as_dict()["cpu"] == 8000
    assert node.devices == {"cuda.device": (0, 1, 2, 3)}
    assert node.labels == {"zone": "a"}


def test_a_running_session_holds_and_a_suspended_one_remembers(world):
    running, victim = _seen(world, world.running), _seen(world, world.victim)

    assert running.allocations[0].slots.as_dict() == world.running.slots
    assert running.resume_slots == ()
    assert victim.allocations[0].slots.as_dict() == {}
    assert victim.resume_slots[0].slots.as_dict() == world.victim.slots


def test_a_queue_that_does_not_serve_the_group_any_more_starts_nothing(world):
    world.group.queues.remove(world.queues["normal"])

    serving = {queue.name: queue.serves_group for queue in _load(world).snapshot.queues}

    assert serving["normal"] is False
    assert serving["urgent"] is True


def test_a_queue_lists_whom_it_preempts_and_never_itself(world):
    urgent = world.queues["urgent"]
    urgent.preemptible_queues.add(urgent)

    found = {queue.name: queue.preemptible_queues for queue in _load(world).snapshot.queues}

    assert found["urgent"] == {world.queues["background"].pk}
    assert found["normal"] == frozenset()


def test_owners_come_with_limits_and_use(world):
    limited = model_factories.a_resource_policy(max_concurrent_sessions=2, max_slots={"cpu": 5000})
    models.User.objects.filter(pk=world.people["owner"].pk).update(policy=limited)

    (owner,) = _load(world).snapshot.owners

    assert (owner.usage.sessions, owner.usage.max_sessions, owner.usage.max_slots) == (1, 2, {"cpu": 5000})
    assert owner.usage.used.get("cpu") == 1000


def test_a_victim_without_a_fate_is_in_a_decision(world):
    assert _seen(world, world.victim).in_decision
    victim = models.Victim.objects.get()
    models.VictimFate.objects.create(victim=victim, fate="stopped", at=clock.now())

    assert not _seen(world, world.victim).in_decision


@pytest.mark.parametrize(
    ("kind", "state", "expected"),
    [
        ("afterok", {}, "waiting"),
        ("afterany", {}, "waiting"),
        ("afterok", {"state": "terminated", "result": "success"}, "met"),
        ("afterok", {"state": "terminated", "result": "failure"}, "impossible"),
        ("afterany", {"state": "terminated", "result": "failure"}, "met"),
    ],
)
def test_dependencies_are_summed_up(world, kind, state, expected):
    owner, queue = world.people["owner"], world.queues["normal"]
    other = model_factories.a_session(owner=owner, queue=queue, **state)
    models.SessionDependency.objects.create(session=world.waiting, other=other, kind=kind)

    assert _seen(world, world.waiting).dependency is entities.DependencyState(expected)


def test_an_impossible_dependency_outweighs_one_that_waits(world):
    owner, queue = world.people["owner"], world.queues["normal"]
    lost = model_factories.a_session(owner=owner, queue=queue, state="terminated", result="failure")
    for other in (lost, world.running):
        models.SessionDependency.objects.create(session=world.waiting, other=other, kind="afterok")

    assert _seen(world, world.waiting).dependency is entities.DependencyState.IMPOSSIBLE


def test_only_back_offs_that_last_are_told(world):
    far = clock.now() + datetime.timedelta(minutes=1)
    models.NodeBackoff.objects.create(session=world.waiting, node=world.node, until=far)
    assert _seen(world, world.waiting).backoff == {world.node.pk: clock.micros(far)}

    models.NodeBackoff.objects.update(until=model_factories.ago(1))

    assert _seen(world, world.waiting).backoff == {}


def test_a_reservation_is_told_with_what_it_has_drawn(world):
    kept = _reservation(world)

    (told,) = _load(world).snapshot.reservations

    assert (told.id, told.session_id, told.node_id) == (kept.pk, world.waiting.pk, world.node.pk)
    assert told.victim_ids == (world.victim.pk,)
    assert (told.is_wait, told.is_binding) == (False, False)


def _reservation(world: worlds.World) -> models.Reservation:
    kept = models.Reservation.objects.create(
        decision=world.decision,
        session=world.waiting,
        node=world.node,
        slots={"cpu": 1000},
        deadline=clock.now(),
    )
    kept.waits_for.add(world.victim)
    return kept


def test_a_consumed_reservation_is_not_told(world):
    _reservation(world)
    models.Reservation.objects.update(is_consumed=True)

    assert _load(world).snapshot.reservations == ()


def test_edges_between_sessions_that_live_are_told(world):
    models.PreemptionEdge.objects.create(decision=world.decision, winner=world.running, loser=world.victim)

    (edge,) = _load(world).snapshot.edges

    assert (edge.winner_id, edge.loser_id) == (world.running.pk, world.victim.pk)


def test_the_policy_is_read_anew(world):
    model_factories.a_policy_version(world.group, grace_period=77)
    stale = models.ResourceGroup(pk=world.group.pk, slug=world.group.slug)

    loaded = snapshot.load_snapshot(stale, round_number=3)

    assert loaded.snapshot.policy.grace_s == 77
    assert loaded.snapshot.round_number == 3
    assert loaded.policy_id == models.ResourceGroup.objects.get(pk=world.group.pk).policy_id


def test_versions_of_all_sessions_come_along_for_the_commit(world):
    models.Session.objects.filter(pk=world.waiting.pk).update(state_version=5)

    assert _load(world).versions[world.waiting.pk] == 5


def test_rows_leave_the_commands_behind(world):
    (row, *_) = session_rows.rows(session_rows.live(world.group))

    assert not {"script", "environment", "argv"} & set(row._fields)
