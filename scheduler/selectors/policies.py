"""Versions of a group's rules. Internal to its pages: the caller has asked whether the viewer may see the group."""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler import models

RULES = models.PolicyVersion.RULES


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One version with what it changed: rule -> (before, after); the first version changed nothing."""

    row: models.PolicyVersion
    rules: dict[str, tuple[Any, Any]]


def current(group: models.ResourceGroup) -> models.PolicyVersion:
    """Return the version in force, read anew. One query."""
    return models.PolicyVersion.objects.get(
        pk=models.ResourceGroup.objects.values("policy_id").get(pk=group.pk)["policy_id"]
    )


def version(group: models.ResourceGroup, number: int) -> models.PolicyVersion | None:
    """Return one version by number. One query."""
    return models.PolicyVersion.objects.filter(group=group, version=number).first()


def last_plan(group: models.ResourceGroup) -> models.PlannedChange | None:
    """Return the newest planned change, open or ended; an open one is always the newest. One query."""
    return models.PlannedChange.objects.filter(group=group).select_related("version").first()


def planned(group: models.ResourceGroup) -> models.PlannedChange | None:
    """Return what will be changed by itself, None without a plan. One query."""
    last = last_plan(group)
    return last if last is not None and last.ended_at is None else None


def came_to_nothing(last: models.PlannedChange | None, current: models.PolicyVersion) -> bool:
    """Say whether the last plan was overtaken or failed, and no version was made since: its group should know."""
    ends = (models.PlannedChange.End.OVERTAKEN, models.PlannedChange.End.FAILED)
    if last is None or last.end not in ends or last.ended_at is None:
        return False
    return last.ended_at >= current.created_at


def history(group: models.ResourceGroup, *, limit: int = 10) -> list[Change]:
    """Return the newest versions, newest first, each with its changes. One query."""
    rows = list(models.PolicyVersion.objects.filter(group=group).order_by("-version")[: limit + 1])
    pairs = zip(rows, [*rows[1:], None], strict=True)
    return [Change(row, difference(before, row)) for row, before in pairs][:limit]


def difference(
    before: models.PolicyVersion | None, after: models.PolicyVersion
) -> dict[str, tuple[Any, Any]]:
    """Return the rules that differ between two versions."""
    if before is None:
        return {}
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in RULES}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
