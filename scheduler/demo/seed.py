"""
Fill an installation: the demo cluster, or one administrator.

Everything goes through the services that pages use. What is there already stays as it is, so a second run, or
one after a crash, only adds what is missing. One transaction per object with what belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import transaction

from scheduler import models
from scheduler.demo import cluster, logins, switch
from scheduler.services import actors, nodes, people, queues, setup

REASON = "part of the demo cluster"
Say = Callable[[str], None]


def seed_demo(actor: actors.Actor, say: Say) -> None:
    """
    Make the demo cluster and switch its stream of sessions on.

    Args:
        actor: in whose name.
        say: gets one line for each thing that was made.
    """
    for person in cluster.PEOPLE:
        _policy(actor, person, say)
    for group in cluster.GROUPS:
        _group(actor, group, say)
    for queue in cluster.QUEUES:
        _queue(actor, queue, say)
    book = logins.Logins(settings.DATA_DIR)
    for person in cluster.PEOPLE:
        _person(actor, person, book=book, say=say)
    if not switch.was_ever_set():
        switch.turn(actor, on=True, reason=REASON)
        say("stream of sessions: on")


def seed_administrator(actor: actors.Actor, say: Say) -> None:
    """Make one administrator with a generated password, unless an administrator is there."""
    if models.User.objects.filter(is_superuser=True).exists():
        say("there is an administrator already")
        return
    (person,) = (person for person in cluster.PEOPLE if person.is_administrator)
    _person(actor, person, book=logins.Logins(settings.DATA_DIR), say=say)


@transaction.atomic
def _policy(actor: actors.Actor, person: cluster.Person, say: Say) -> None:
    if models.KeypairResourcePolicy.objects.filter(name=person.policy).exists():
        return
    people.create_resource_policy(actor, person.policy, max_priority=person.max_priority)
    say(f"resource policy {person.policy}: priority up to {person.max_priority}")


@transaction.atomic
def _group(actor: actors.Actor, group: cluster.Group, say: Say) -> None:
    row = models.ResourceGroup.objects.filter(slug=group.slug).first()
    if row is None:
        row = setup.create_group(
            actor, group.slug, description=group.description, policy=dict(group.rules), reason=REASON
        )
        say(f"group {group.slug}")
    for name in group.nodes:
        if not models.Node.objects.filter(name=name).exists():
            nodes.create_node(actor, name, row, capacity=dict(group.capacity))
            say(f"node {name}")


@transaction.atomic
def _queue(actor: actors.Actor, queue: cluster.Queue, say: Say) -> None:
    if models.Queue.objects.filter(slug=queue.slug).exists():
        return
    queues.create_queue(
        actor,
        queue.slug,
        groups=models.ResourceGroup.objects.filter(slug__in=[group.slug for group in cluster.GROUPS]),
        description=queue.description,
        default_priority=queue.default_priority,
        preemptible=queue.preemptible,
        preemptible_queues=queue.preempts,
        reason=REASON,
    )
    say(f"queue {queue.slug}")


@transaction.atomic
def _person(actor: actors.Actor, person: cluster.Person, *, book: logins.Logins, say: Say) -> None:
    if models.User.objects.filter(username=person.username).exists():
        return
    role = "administrator" if person.is_administrator else "user"
    user = people.create_user(
        actor,
        person.username,
        password=book.password_for(person.username, role=role, note=person.note),
        policy=models.KeypairResourcePolicy.objects.get(name=person.policy),
        is_administrator=person.is_administrator,
    )
    for slug, group_role in person.roles.items():
        people.set_role(actor, models.ResourceGroup.objects.get(slug=slug), group_role, user=user)
    say(f"{role} {person.username}")
