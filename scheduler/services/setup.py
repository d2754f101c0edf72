"""Set up what everything else stands on: resource groups with their first rules, and kinds of slots."""

from __future__ import annotations

from typing import Any

from scheduler import models
from scheduler.services import actors, audit, checks, policies
from scheduler.services import work as unit


def create_group(
    actor: actors.Actor,
    slug: str,
    *,
    description: str = "",
    policy: dict[str, Any] | None = None,
    reason: str = "created",
) -> models.ResourceGroup:
    """Create a resource group with version 1 of its rules; preemption is off unless ``policy`` says otherwise."""
    checks.require_administrator(actor, "create a resource group")
    with unit.begin(actor) as work:
        group = checks.checked(models.ResourceGroup(slug=slug, description=description), exclude={"policy"})
        group.save()
        blank = models.PolicyVersion(group=group, version=0)
        row = policies.draft(blank, policy or {})
        row.reason, row.created_at = reason, work.now
        row.created_by, row.created_by_name = actor.user, actor.name
        row.save()
        group.policy = row
        group.save(update_fields=["policy"])
        models.GroupRounds.objects.create(group=group)
        after = {"slug": slug, **(policy or {})}
        audit.record_change(
            work,
            audit.Subject("resource group", slug, group),
            before={},
            after=after,
            reason=reason,
        )
        work.tell("group.created", group_id=group.pk)
    return group


def create_slot_kind(actor: actors.Actor, name: str, **columns: Any) -> models.SlotKind:
    """Declare a kind of slot with its scale, or return it when there is one of this name."""
    checks.require_administrator(actor, "declare a slot kind")
    known = models.SlotKind.objects.filter(name=name).first()
    if known is not None:
        return known
    with unit.begin(actor) as work:
        row = checks.checked(models.SlotKind(name=name, **columns))
        row.save()
        audit.record_change(work, audit.Subject("slot kind", name), before={}, after=columns)
    return row
