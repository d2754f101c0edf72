"""Which preemption policy chooses the victims for whom in a group: one for owners, and one for each of its queues."""

from __future__ import annotations

import dataclasses

from scheduler import models
from scheduler.core.preemption import shipped
from scheduler.plugins import catalog
from scheduler.selectors import permissions


@dataclasses.dataclass(frozen=True, slots=True)
class Chooser:
    """One queue with the policy that it names; with a ``fault`` it stops nobody, and nothing takes its place."""

    queue: str
    policy: str
    description: str
    package: str
    fault: str


def of_group(viewer: models.User, group: models.ResourceGroup) -> list[Chooser]:
    """Return those of the queues that serve a group the viewer sees, by name. One query."""
    rows = permissions.visible_queues(viewer).filter(groups=group).order_by("slug")
    named = dict(rows.values_list("slug", "preempt_policy"))
    known = {one.name: one for one in catalog.offers()}
    faults = catalog.faults(set(named.values()) - {""})
    return [_chooser(queue, policy or shipped.DEFAULT, (known, faults)) for queue, policy in named.items()]


def _chooser(queue: str, policy: str, found: tuple[dict[str, catalog.Found], dict[str, str]]) -> Chooser:
    known, faults = found
    one = known.get(policy, catalog.Found(policy, "", ""))
    return Chooser(queue, policy, one.description, one.package, faults.get(policy, ""))
