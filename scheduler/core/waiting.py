"""
When sessions would start if nobody were stopped for them, as far as wall-time limits tell.

Each is looked at alone, on the nodes as they are: what others take before it is not foreseen, and what ends before its
limit is not either. So it is an estimate by the limits, no promise; None = no limit tells.
Source: ECOSYSTEM D.2 (waiting time saved).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from scheduler.core import context, entities, forecast, placement, snapshot


def starts_without(view: snapshot.Snapshot, session_ids: Iterable[int]) -> Mapping[int, int | None]:
    """
    Return session id -> the moment at which it could start with preemption off, microseconds; None = unknown.

    Cost: O(sessions x nodes x sessions on a node).
    """
    off = dataclasses.replace(view.policy, state=entities.PreemptionState.OFF)
    ctx = context.Context(dataclasses.replace(view, policy=off))
    return {pk: _soonest(ctx, ctx.session_by_id[pk]) for pk in session_ids}


def _soonest(ctx: context.Context, session: entities.Session) -> int | None:
    nodes = [n for n in placement.acceptable(ctx, session) if placement.could_ever_hold(session, n)]
    starts = [forecast.soonest(ctx, entities.Allocation(node.id, session.request)).moment for node in nodes]
    return min((moment for moment in starts if moment is not None), default=None)
