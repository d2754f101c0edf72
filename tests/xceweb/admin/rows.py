"""The world of ``tests.worlds`` with at least one row in every table."""

from __future__ import annotations

import datetime
import uuid

from django.contrib.auth.models import Group
from django.utils import timezone

from scheduler import models
from scheduler.services import listening
from tests import decision_factories, model_factories, worlds

#: What nobody may read in the console, as it is stored.
SECRETS = ("stored-hash-of-a-secret", "answer-with-a-secret", "md5$")


def fill() -> worlds.World:
    """Make it."""
    world = worlds.a_world()
    listening.note()
    add(world, 1)
    return world


def add(world: worlds.World, number: int) -> None:
    """Add one row to each table that can hold another of this number."""
    now = timezone.now()
    owner, group = world.people["owner"], world.group
    node = model_factories.a_node(f"node-{number}", group=group)
    queue = model_factories.a_queue(f"queue-{number}", groups=[group])
    with_node = {"owner": owner, "queue": queue, "group": group, "state": "running", "node": node}
    held = model_factories.a_session(**with_node, job_priority=20)
    loser = model_factories.a_session(**with_node, job_priority=5)
    _session_rows(held, loser, now)
    _decision_rows(held, loser, node, now)
    _node_rows(node, held, number, now)
    _people_rows(world, queue, number, now)
    model_factories.an_event("node.ready", node=node, group=group)
    models.Announcement.objects.create(text=f"words {number}", made_at=now, made_by_name="administrator")
    models.ConfigChange.objects.create(
        at=now,
        actor_name="administrator",
        object_type="queue",
        object_name=queue.slug,
        before={"state": "open", "max_priority": 100},
        after={"state": "stopped", "max_priority": 100},
        reason=f"change {number}",
        group=group,
    )


def _session_rows(held: models.Session, other: models.Session, now: datetime.datetime) -> None:
    model_factories.an_output(held, "last lines")
    models.RankOutput.objects.create(session=held, attempt=1, rank=1, tail="of another node", updated_at=now)
    models.OutputPage.objects.create(session=held, attempt=1, offset=0, request=uuid.uuid4(), asked_at=now)
    models.SessionDependency.objects.create(session=held, other=other, kind="afterok")
    decision_factories.a_pend_reason(held)


def _decision_rows(
    held: models.Session, loser: models.Session, node: models.Node, now: datetime.datetime
) -> None:
    decision = decision_factories.a_preemption(held, [loser], node=node)
    victim = decision.victims.get()
    models.VictimFate.objects.create(victim=victim, fate="stopped", at=now)
    models.Outcome.objects.create(decision=decision, kind="used", at=now)
    models.GivenUp.objects.create(decision=decision, cause="edited")
    models.ShadowCount.objects.create(decision=decision, key=str(decision.pk), last_at=now)
    models.PreemptionEdge.objects.create(decision=decision, winner=held, loser=loser)
    models.Handover.objects.create(
        victim=victim,
        decision=decision,
        axis="owner",
        owner_id_then=held.owner_id,
        holder_owner_id=held.owner_id,
        own_value=1,
        holder_value=2,
        at=now,
    )
    models.Reservation.objects.create(
        decision=decision, session=held, node=node, slots={"cpu": 1000}, deadline=now
    )
    models.Claim.objects.create(session=held, since=now)
    models.NodeBackoff.objects.create(session=held, node=node, until=now)


def _node_rows(node: models.Node, held: models.Session, number: int, now: datetime.datetime) -> None:
    models.AgentStatus.objects.create(node=node, version="1.0", last_report_at=now)
    models.AgentKey.objects.create(key_id=f"key-{number}", node=node, secret=b"signs-everything")
    models.AgentCommand.objects.create(
        node=node, session=held, epoch=1, kind="stop", body={}, created_at=now, send_again_at=now
    )
    models.SlotKind.objects.get_or_create(name=f"kind-{number}")


def _people_rows(world: worlds.World, queue: models.Queue, number: int, now: datetime.datetime) -> None:
    owner = world.people["owner"]
    team = Group.objects.create(name=f"team {number}")
    models.GroupRole.objects.create(group=world.group, team=team, role="viewer")
    models.Keypair.objects.create(
        access_key=f"XCE{number}", secret_hash="stored-hash-of-a-secret", user=owner, name="a program"
    )
    models.IdempotentAnswer.objects.create(
        user=owner,
        key=f"key-{number}",
        fingerprint="f",
        body={"secret": "answer-with-a-secret"},
        created_at=now,
    )
    models.SavedView.objects.create(user=owner, name=f"view {number}", query="state:pending", created_at=now)
    models.PlannedChange.objects.create(
        group=model_factories.a_group(f"planned-{number}"),
        kind="change",
        at=now,
        changes={"preemption_state": "on"},
        version=world.group.policy,
        reason="at night",
        created_by_name="administrator",
        created_at=now,
    )
