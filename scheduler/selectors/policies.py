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
