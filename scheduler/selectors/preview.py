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
from scheduler.core import decisions, entities, waiting
from scheduler.core import preview as core_preview
from scheduler.plugins import asking
from scheduler.selectors import exposures, permissions, snapshot
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
    lost: dict[
        str, int
    ]  #: kind -> amount x seconds of its run that a stop throws away; empty where it goes on later
    stays_away: str  #: why it does not come back by itself as it was; empty where it does


@dataclasses.dataclass(frozen=True)
class PreviewStart:
    """One waiting session that would get room."""

    session: models.Session
    node: str
    waited_s: int
    grace_s: int  #: until its victims are gone, at the latest
    saved_s: (
        int | None
    )  #: how much sooner it starts than by the wall-time limits of others; None = no limit tells


@dataclasses.dataclass(frozen=True)
class Preview:
    """The answer of one hypothetical round."""

    round_number: int
    computed_at: datetime.datetime
    victims: list[PreviewVictim]
    starts: list[PreviewStart]
    exposures: exposures.Exposures

    @property
    def protected(self) -> dict[str, int]:
        """Return verdict -> number of running sessions that it protects and the viewer may see."""
        return {one.verdict: one.count for one in self.exposures.protected}

    @property
    def lost(self) -> dict[str, int]:
        """Return kind -> amount x seconds that all stops together throw away."""
        total: collections.Counter[str] = collections.Counter()
        for victim in self.victims:
            total.update(victim.lost)
        return dict(total)

    @property
    def saved_s(self) -> int:
        """Return the seconds of waiting saved, of those starts of which it is known."""
        return sum(start.saved_s or 0 for start in self.starts)

    @property
    def unknown(self) -> int:
        """Return the number of starts of which nobody knows when they would come otherwise."""
        return sum(start.saved_s is None for start in self.starts)


def preview_policy(viewer: models.User, group: models.ResourceGroup, changes: dict[str, Any]) -> Preview:
    """
    Decide one round under the rules in force with ``changes`` applied, as if preemption were on.

    Raises:
        NotAllowed: the viewer may not preview.
        Refusal: a value is not possible.
    """
    permissions.require(permissions.can_preview(viewer, group), f"preview rules of {group.slug}")
    decided = _decide(group, changes)
    shown = exposures.load(viewer, decided.loaded.snapshot, decided.rules, decided.found)
    return _render(decided, shown)


def count_victims(group: models.ResourceGroup, changes: dict[str, Any]) -> int:
    """Return how many sessions one round would stop now with ``changes`` applied. Internal: no viewer."""
    found = _decide(group, changes).found
    return sum(one.n_victims for one in found if isinstance(one, decisions.Preempt))


@dataclasses.dataclass(frozen=True)
class _Decided:
    loaded: snapshot.Loaded
    rules: entities.Policy
    found: list[decisions.Decision]
    round_number: int


def _decide(group: models.ResourceGroup, changes: dict[str, Any]) -> _Decided:
    state = models.GroupRounds.objects.get(group=group)
    loaded = snapshot.load_snapshot(group, round_number=state.last_number + 1)
    current = models.PolicyVersion.objects.get(pk=loaded.policy_id)
    draft = policies.draft(current, {**changes, "preemption_state": entities.PreemptionState.ON.value})
    asked = asking.policies_for(loaded.snapshot)
    rules = snapshot.policy_value(draft)
    found = core_preview.would_preempt(loaded.snapshot, rules, policies=asked)
    return _Decided(loaded, rules, found, state.last_number)


def _render(decided: _Decided, shown: exposures.Exposures) -> Preview:
    loaded, round_number = decided.loaded, decided.round_number
    preempts = [decision for decision in decided.found if isinstance(decision, decisions.Preempt)]
    ids = {pk for p in preempts for pk in (p.preempting_jobid, *p.victim_jobids)}
    rows = {
        row.pk: row
        for row in models.Session.objects.filter(pk__in=ids).select_related("owner", "queue", "group")
    }
    moments = waiting.starts_without(loaded.snapshot, [p.preempting_jobid for p in preempts])
    return Preview(
        round_number,
        clock.from_micros(loaded.snapshot.now),
        [_victim(loaded, preempt, order, rows) for preempt in preempts for order in preempt.victims],
        [_start(loaded, preempt, rows, moments[preempt.preempting_jobid]) for preempt in preempts],
        shown,
    )


def _victim(
    loaded: snapshot.Loaded,
    preempt: decisions.Preempt,
    order: decisions.VictimOrder,
    rows: dict[int, models.Session],
) -> PreviewVictim:
    row = rows[order.session_id]
    started = clock.micros(row.started_at) if row.started_at else loaded.snapshot.now
    ran_s = max(0, (loaded.snapshot.now - started) // _SECOND)
    return PreviewVictim(
        session=row,
        preemptor=rows[preempt.preempting_jobid],
        axis=preempt.axis.value,
        own_value=order.own_value,
        preemptor_value=preempt.preemptor_value,
        node=loaded.names[preempt.node_id],
        slots=row.slots,
        ran_s=ran_s,
        action=order.action.value,
        mode=order.mode.value,
        lost=_lost(row, order, ran_s),
        stays_away=_stays_away(row, order),
    )


_SECOND = 1_000_000


def _lost(row: models.Session, order: decisions.VictimOrder, ran_s: int) -> dict[str, int]:
    if order.action is not decisions.Action.KILL:
        return {}
    return {kind: amount * row.node_count * ran_s for kind, amount in row.slots.items() if amount}


def _stays_away(row: models.Session, order: decisions.VictimOrder) -> str:
    """Say why a victim does not come back by itself as it was: people should hear it before they are stopped."""
    if order.action is decisions.Action.KILL and order.mode is entities.PreemptionMode.TERMINATE:
        return "it ends and is not requeued"
    if order.action is decisions.Action.REQUEUE_SUSPENDED:
        return "it gives up its suspended processes and starts anew"
    if order.mode is entities.PreemptionMode.SUSPEND:
        return ""
    if row.queue.state == entities.QueueState.STOPPED.value:
        return f"queue {row.queue.slug} is stopped: it waits there until it is opened"
    if order.action is decisions.Action.KILL and row.type == entities.SessionType.INTERACTIVE.value:
        return "it is interactive: it starts anew, without its state"
    return ""


def _start(
    loaded: snapshot.Loaded,
    preempt: decisions.Preempt,
    rows: dict[int, models.Session],
    otherwise: int | None,
) -> PreviewStart:
    row = rows[preempt.preempting_jobid]
    now = loaded.snapshot.now
    waited = max(0, now - clock.micros(row.submitted_at)) // _SECOND
    grace_s = max((order.grace_s for order in preempt.victims), default=0)
    saved = None if otherwise is None else max(0, (otherwise - now) // _SECOND - grace_s)
    return PreviewStart(row, loaded.names[preempt.node_id], waited, grace_s, saved)
