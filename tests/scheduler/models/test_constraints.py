"""The database itself refuses what must never be: every named constraint, and the append-only tables."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db import models as django_models
from django.utils import timezone

from scheduler import ids, models
from scheduler.core import entities
from scheduler.models import policies
from tests import decision_factories, model_factories, worlds

#: Made by every test below: the small world with a preemption of the owner's session.
World = worlds.World


@pytest.fixture
def world(db) -> World:
    return worlds.a_world()


def _slot(world: World, **values):
    models.NodeSlot.objects.filter(node=world.node, kind="cpu").update(**values)


def _rank_output(world, rank):
    models.RankOutput.objects.create(session=world.running, attempt=1, rank=rank, updated_at=timezone.now())


def _session(world: World, **values):
    models.Session.objects.filter(pk=world.waiting.pk).update(**values)


def _version(world: World, **values):
    model_factories.a_policy_version(world.group, **values)


def _command(world: World):
    models.AgentCommand.objects.create(
        node=world.node,
        session=world.running,
        epoch=1,
        kind="stop",
        body={},
        created_at=timezone.now(),
        send_again_at=timezone.now(),
    )


def _victim(world: World, **values):
    known = models.Victim.objects.get()
    fields = {
        field.name: getattr(known, field.attname if field.is_relation else field.name)
        for field in known._meta.concrete_fields
        if field.name not in ("id", "decision", "session")
    }
    models.Victim.objects.create(decision=world.decision, session=world.waiting, **(fields | values))


def _handover(world: World, **values):
    owner_id = world.running.owner_id
    fields = {"owner_id_then": owner_id, "holder_owner_id": owner_id, "own_value": 1, "holder_value": 2}
    models.Handover.objects.create(
        victim=models.Victim.objects.get(),
        decision=world.decision,
        axis="owner",
        at=timezone.now(),
        **(fields | values),
    )


def _again(row: django_models.Model, **values):
    """Insert a copy of a row."""
    row.pk = None
    row._state.adding = True
    for name, value in values.items():
        setattr(row, name, value)
    row.save(force_insert=True)


def _device(world: World):
    kept = models.Reservation.objects.create(
        decision=world.decision,
        session=world.waiting,
        node=world.node,
        slots={},
        deadline=timezone.now(),
    )
    models.NodeDevice.objects.filter(node=world.node).update(session=world.running, reservation=kept)


def _role(world: World, **values):
    models.GroupRole.objects.create(group=world.elsewhere, role="viewer", **values)


def _user(world: World):
    return world.people["viewer"]


def _team():
    return Group.objects.get_or_create(name="team")[0]


def _dependency(world: World, other):
    models.SessionDependency.objects.create(session=world.waiting, other=other, kind="afterok")


def _usage(model, **key):
    model.objects.create(**key, kind="tpu", used=1)


def _plan(world: World, **values):
    now = timezone.now()
    models.PlannedChange.objects.create(
        **{"group": world.group, "kind": "return", "at": now, "changes": {}, "version": world.group.policy}
        | {"reason": "because", "created_by_name": "root", "created_at": now}
        | values
    )


CASES = {
    "announcement_says_something": lambda w: models.Announcement.objects.create(made_at=timezone.now()),
    "one_planned_change_is_open_in_a_group": lambda w: [_plan(w) for _ in range(2)],
    "planned_change_ends_with_a_word": lambda w: _plan(w, end="done"),
    "planned_change_has_a_reason": lambda w: _plan(w, reason=""),
    "node_slot_never_over_allocated": lambda w: _slot(w, allocated=8_001),
    "node_slot_is_never_negative": lambda w: _slot(w, reserved=-1),
    "node_slot_is_unique": lambda w: _again(w.node.slots.first()),
    "node_device_is_unique": lambda w: _again(w.node.devices.first()),
    "node_device_has_one_holder": _device,
    "node_state_is_known": lambda w: models.Node.objects.update(state="on fire"),
    "session_state_is_known": lambda w: _session(w, state="rescheduling"),
    "session_priority_is_0_to_100": lambda w: _session(w, priority=101, priority_cap=200),
    "session_priority_is_within_its_cap": lambda w: _session(w, priority=21, priority_cap=20),
    "session_result_stands_exactly_when_ended": lambda w: _session(w, result="success"),
    "session_has_a_command_or_a_script": lambda w: _session(w, script="echo"),
    "session_dependency_is_unique": lambda w: [_dependency(w, w.running) for _ in range(2)],
    "session_does_not_wait_for_itself": lambda w: _dependency(w, w.waiting),
    "run_is_unique_in_session": lambda w: model_factories.a_run(w.running, w.node),
    "allocation_is_unique": lambda w: _again(w.running.allocations.get()),
    "output_is_unique_in_session": lambda w: [
        models.SessionOutput.objects.create(session=w.running, attempt=1, updated_at=timezone.now())
        for _ in range(2)
    ],
    "output_is_unique_in_session_and_rank": lambda w: [_rank_output(w, 1) for _ in range(2)],
    "output_rank_is_of_a_further_node": lambda w: _rank_output(w, 0),
    "output_page_is_unique_in_rank": lambda w: [
        models.OutputPage.objects.create(
            session=w.running, attempt=1, offset=0, request=ids.new_id(), asked_at=timezone.now()
        )
        for _ in range(2)
    ],
    "saved_view_is_unique_by_name": lambda w: [
        models.SavedView.objects.create(
            user=w.people["owner"], name="mine", query="user:me", created_at=timezone.now()
        )
        for _ in range(2)
    ],
    "idempotency_key_is_unique_for_a_user": lambda w: [
        models.IdempotentAnswer.objects.create(user=w.people["owner"], key="k", created_at=timezone.now())
        for _ in range(2)
    ],
    "one_open_command_per_session_and_node": lambda w: [_command(w) for _ in range(2)],
    "round_is_unique_in_group": lambda w: decision_factories.a_round(w.group, number=w.decision.round.number),
    "decision_is_unique_in_round": lambda w: _again(
        models.Decision.objects.get(), public_id="018f0000-0000-7000-8000-000000000000"
    ),
    "victim_is_unique_in_decision": lambda w: _again(models.Victim.objects.get()),
    "victim_on_the_owner_axis_has_the_same_owner": lambda w: _victim(w, owner_id_then=0),
    "victim_is_strictly_lower": lambda w: _victim(w, own_value=20, preemptor_value=20),
    "handover_on_the_owner_axis_has_the_same_owner": lambda w: _handover(w, owner_id_then=0),
    "handover_is_to_one_strictly_higher": lambda w: _handover(w, own_value=2),
    "shadow_episode_is_unique": lambda w: [
        models.ShadowCount.objects.create(decision=decision, key="k", last_at=timezone.now())
        for decision in (
            w.decision,
            decision_factories.a_preemption(w.waiting, [], node=w.node, kind="shadow"),
        )
    ],
    "backoff_is_unique": lambda w: [
        models.NodeBackoff.objects.create(session=w.waiting, node=w.node, until=timezone.now())
        for _ in range(2)
    ],
    "edge_is_unique_in_decision": lambda w: [
        models.PreemptionEdge.objects.create(decision=w.decision, winner=w.running, loser=w.victim)
        for _ in range(2)
    ],
    "there_is_one_event_counter": lambda w: models.EventCounter.objects.create(id=2),
    "owner_usage_is_unique": lambda w: [_usage(models.OwnerUsage, owner=_user(w)) for _ in range(2)],
    "owner_usage_is_never_negative": lambda w: models.OwnerUsage.objects.update(used=-1),
    "queue_usage_is_unique": lambda w: [
        _usage(models.QueueUsage, queue=w.queues["urgent"]) for _ in range(2)
    ],
    "queue_usage_is_never_negative": lambda w: models.QueueUsage.objects.update(used=-1),
    "policy_version_is_unique_in_group": lambda w: _again(
        models.PolicyVersion.objects.get(pk=w.group.policy_id)
    ),
    "policy_state_is_known": lambda w: _version(w, preemption_state="perhaps"),
    "policy_mode_is_known": lambda w: _version(w, preemption_mode="freeze"),
    "policy_order_is_known": lambda w: _version(w, preemption_order="random"),
    "policy_scope_is_known": lambda w: _version(w, preemption_scope="all"),
    "policy_change_has_a_reason": lambda w: _version(w, reason=""),
    "policy_cap_is_at_most_100": lambda w: models.KeypairResourcePolicy.objects.update(max_priority=101),
    "policy_default_priority_is_at_most_100": lambda w: models.KeypairResourcePolicy.objects.update(
        default_priority=101
    ),
    "queue_state_is_known": lambda w: models.Queue.objects.update(state="ajar"),
    "queue_cap_is_at_most_100": lambda w: models.Queue.objects.update(max_priority=101),
    "queue_default_priority_is_within_its_cap": lambda w: models.Queue.objects.update(
        default_priority=51, max_priority=50
    ),
    "group_role_is_of_a_user_or_of_a_team": lambda w: _role(w),
    "one_role_of_a_user_in_a_group": lambda w: [_role(w, user=_user(w)) for _ in range(2)],
    "one_role_of_a_team_in_a_group": lambda w: [_role(w, team=_team()) for _ in range(2)],
    "slot_kind_scale_is_positive": lambda w: models.SlotKind.objects.update(scale=0),
}


def _named():
    """Return the names of all constraints that the application's models declare."""
    own = apps.get_app_config("scheduler").get_models()
    return {constraint.name for model in own for constraint in model._meta.constraints}


def test_every_named_constraint_has_a_case():
    assert set(CASES) == _named()


@pytest.mark.parametrize("name", CASES)
def test_the_constraint_refuses(world, name):
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        CASES[name](world)


def test_p07_a_victim_of_another_owner_on_the_queue_axis_is_allowed(world):
    _victim(world, axis="queue", owner_id_then=0)

    assert models.Victim.objects.count() == 2


APPEND_ONLY = ("event", "decision", "victim", "victimfate", "outcome", "configchange", "policyversion")


@pytest.mark.parametrize("table", APPEND_ONLY)
@pytest.mark.parametrize("statement", ["UPDATE scheduler_{} SET {} = {}", "DELETE FROM scheduler_{}"])
def test_p05_what_is_written_for_ever_cannot_be_changed(world, table, statement):
    _fill(world)
    column = "number" if table == "event" else "id"

    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(table, column, column))


def _fill(world):
    now = timezone.now()
    models.Outcome.objects.create(decision=world.decision, kind="used", at=now)
    models.VictimFate.objects.create(victim=models.Victim.objects.get(), fate="stopped", at=now)
    models.ConfigChange.objects.create(at=now, actor_name="x", object_type="x", object_name="x")


@pytest.mark.parametrize("state", ["pending", "terminated"])
def test_p01_a_session_that_holds_a_node_cannot_end_or_wait_at_commit(world, state):
    over = {"result": "success", "ended_at": timezone.now()} if state == "terminated" else {}

    models.Session.objects.filter(pk=world.running.pk).update(state=state, **over)

    _is_refused_at_commit()


def test_p01_a_session_that_waits_cannot_be_given_a_node_at_commit(world):
    models.Allocation.objects.filter(session=world.running).update(session=world.waiting)

    _is_refused_at_commit()


def _is_refused_at_commit():
    with pytest.raises(IntegrityError, match="holds a node"):
        connection.check_constraints()
    transaction.set_rollback(True)


def test_a_session_may_end_before_its_node_is_given_back_in_the_same_transaction(world):
    models.Session.objects.filter(pk=world.running.pk).update(state="pending")
    models.Allocation.objects.filter(session=world.running).delete()

    connection.check_constraints()

    assert not models.Allocation.objects.filter(session__state="pending").exists()


def test_choices_and_conditions_come_from_the_core_enums():
    assert policies.choices_of(entities.QueueState)[1] == ("no_submit", "no submit")
    assert policies.is_one_of("state", entities.QueueState).children[0][1] == [
        member.value for member in entities.QueueState
    ]
