"""
Who would be stopped under other rules: the same core call on the live snapshot, with another callback.

Leaves no row, event or lock. What the viewer may not see of a session is left to the page.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
from typing import Any

from scheduler import clock, models
from scheduler.core import decisions, entities
from scheduler.core import preview as core_preview
from scheduler.plugins import asking
from scheduler.selectors import permissions, snapshot
from scheduler.services import policies


@dataclasses.dataclass(frozen=True)
class PreviewVictim:
    """One session that would be stopped, and for whom."""

    session: models.Session
    preemptor: models.Session
    axis: str
    own_value: int
    preemptor_value: int
    node: str
    slots: dict[str, int]
    ran_s: int
    action: str
    mode: str


@dataclasses.dataclass(frozen=True)
class PreviewStart:
    """One waiting session that would get room."""

    session: models.Session
    node: str
    waited_s: int


@dataclasses.dataclass(frozen=True)
class Preview:
    """The answer of one hypothetical round."""

    round_number: int
    computed_at: datetime.datetime
    victims: list[PreviewVictim]
    starts: list[PreviewStart]
    protected: dict[
        str, int
    ]  #: verdict -> number of running sessions that it protects and the viewer may see


def preview_policy(viewer: models.User, group: models.ResourceGroup, changes: dict[str, Any]) -> Preview:
    """
    Decide one round under the rules in force with ``changes`` applied, as if preemption were on.

    Raises:
        NotAllowed: the viewer may not preview.
        Refusal: a value is not possible.
    """
    permissions.require(permissions.can_preview(viewer, group), f"preview rules of {group.slug}")
    loaded = snapshot.load_snapshot(group)
    current = models.PolicyVersion.objects.get(pk=loaded.policy_id)
    draft = policies.draft(current, {**changes, "preemption_state": entities.PreemptionState.ON.value})
    asked = asking.policies_for(loaded.snapshot)
    found = core_preview.would_preempt(loaded.snapshot, snapshot.policy_value(draft), policies=asked)
    state = models.GroupRounds.objects.get(group=group)
    return _render(loaded, found, round_number=state.last_number, viewer=viewer)


def _render(
    loaded: snapshot.Loaded, found: list[decisions.Decision], *, round_number: int, viewer: models.User
) -> Preview:
    preempts = [decision for decision in found if isinstance(decision, decisions.Preempt)]
    ids = {pk for p in preempts for pk in (p.preempting_jobid, *p.victim_jobids)}
    rows = {
        row.pk: row
        for row in models.Session.objects.filter(pk__in=ids).select_related("owner", "queue", "group")
    }
    return Preview(
        round_number,
        clock.from_micros(loaded.snapshot.now),
        [_victim(loaded, preempt, order, rows) for preempt in preempts for order in preempt.victims],
        [_start(loaded, preempt, rows) for preempt in preempts],
        _protected(viewer, found),
    )


def _victim(
    loaded: snapshot.Loaded,
    preempt: decisions.Preempt,
    order: decisions.VictimOrder,
    rows: dict[int, models.Session],
) -> PreviewVictim:
    row = rows[order.session_id]
    started = clock.micros(row.started_at) if row.started_at else loaded.snapshot.now
    return PreviewVictim(
        session=row,
        preemptor=rows[preempt.preempting_jobid],
        axis=preempt.axis.value,
        own_value=order.own_value,
        preemptor_value=preempt.preemptor_value,
        node=loaded.names[preempt.node_id],
        slots=row.slots,
        ran_s=max(0, (loaded.snapshot.now - started) // 1_000_000),
        action=order.action.value,
        mode=order.mode.value,
    )


def _start(
    loaded: snapshot.Loaded, preempt: decisions.Preempt, rows: dict[int, models.Session]
) -> PreviewStart:
    row = rows[preempt.preempting_jobid]
    waited = max(0, loaded.snapshot.now - clock.micros(row.submitted_at)) // 1_000_000
    return PreviewStart(row, loaded.names[preempt.node_id], waited)


def _protected(viewer: models.User, found: list[decisions.Decision]) -> dict[str, int]:
    verdicts: dict[int, str] = {}
    selected = {pk for d in found if isinstance(d, decisions.Preempt) for pk in d.victim_jobids}
    for decision in found:
        for candidate in getattr(decision, "candidates", ()):
            if candidate.session_id not in selected:
                verdicts[candidate.session_id] = candidate.verdict.value
    visible = permissions.visible_sessions(viewer).filter(pk__in=verdicts).values_list("pk", flat=True)
    return dict(collections.Counter(verdicts[pk] for pk in visible))
