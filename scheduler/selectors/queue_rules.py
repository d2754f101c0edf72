"""Who may preempt whom among the queues that a viewer sees: the lists, what takes effect of them, and the cycles."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable

from django.db.models import QuerySet

from scheduler import models
from scheduler.core.preemption import queue_graph
from scheduler.selectors import permissions


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """One queue's part: whom it may preempt, and whether it can be preempted."""

    name: str
    version: int
    is_preemptible: bool
    takes: frozenset[str]  #: names of the other queues from which it may preempt
    groups: frozenset[int]  #: ids of those it serves, as far as the viewer sees them
    changed_by: str
    changed_at: datetime.datetime | None


def of(viewer: models.User) -> list[Rule]:
    """Return the rules of the visible queues by name; what the viewer does not see is on no list. Four queries."""
    seen = set(permissions.visible_groups(viewer).values_list("pk", flat=True))
    return _rules(permissions.visible_queues(viewer), seen)


def everybodys() -> list[Rule]:
    """Return the rules of all queues, for whoever administers the machine itself."""
    return _rules(models.Queue.objects.all(), set(models.ResourceGroup.objects.values_list("pk", flat=True)))


def _rules(found: QuerySet[models.Queue], seen: set[int]) -> list[Rule]:
    queues = list(found.prefetch_related("preemptible_queues", "groups").order_by("slug"))
    names = {queue.slug for queue in queues}
    return [
        Rule(
            name=queue.slug,
            version=queue.version,
            is_preemptible=queue.preemptible,
            takes=frozenset(names & {other.slug for other in queue.preemptible_queues.all()}),
            groups=frozenset(seen & {group.pk for group in queue.groups.all()}),
            changed_by=queue.changed_by_name,
            changed_at=queue.changed_at,
        )
        for queue in queues
    ]


def in_effect(rules: Iterable[Rule]) -> dict[str, list[str]]:
    """
    Return queue -> those from which it preempts where the group's rules let queues do so.

    A queue on its list that cannot be preempted, or that serves none of its groups, has no effect: victims are always
    in the preemptor's group (DESIGN 1).
    """
    by_name = {rule.name: rule for rule in rules}
    return {
        rule.name: sorted(
            name
            for name in rule.takes
            if name in by_name and by_name[name].is_preemptible and by_name[name].groups & rule.groups
        )
        for rule in by_name.values()
    }


def cycles(rules: Iterable[Rule]) -> list[queue_graph.Cycle]:
    """Return the cycles of what takes effect: queues that may preempt each other, directly or over others."""
    return queue_graph.cycles(in_effect(rules))


def last_reason(name: str) -> str:
    """Return why a queue was changed last, empty when it never was."""
    rows = models.ConfigChange.objects.filter(object_type="queue", object_name=name).order_by("-pk")
    return rows.values_list("reason", flat=True).first() or ""
