"""
Stops under way: which decision answers for them, and whether they can be undone.

A stop is its own decision's until it passes to the decision of a next holder (DESIGN 5.5).
"""

from __future__ import annotations

import datetime
from collections.abc import Collection

from django.db.models import Q, QuerySet

from scheduler import models
from scheduler.core import decisions, entities
from scheduler.models.decisions import VictimFate


def answered_for(decision_ids: Collection[int]) -> QuerySet[models.Victim]:
    """Return the victims for whose stops these decisions answer."""
    own = Q(decision__in=decision_ids, handover=None)
    return models.Victim.objects.filter(own | Q(handover__decision__in=decision_ids))


def irreversible(victims: QuerySet[models.Victim]) -> QuerySet[models.Victim]:
    """Leave out those whose stop can be undone: a suspend and a cancelled dispatch."""
    kills = victims.exclude(mode=entities.PreemptionMode.SUSPEND.value)
    return kills.exclude(action=decisions.Action.CANCEL_DISPATCH.value)


def kill_begun(decision_ids: Collection[int], *, now: datetime.datetime) -> set[int]:
    """Return those decisions for which a kill has begun, by report or by the clock of its grace. One query."""
    rows = irreversible(answered_for(decision_ids)).values_list(
        "decision_id", "handover__decision_id", "decision__at", "grace_s", "fate__fate"
    )
    return {
        heir or own
        for own, heir, at, grace_s, fate in rows
        if fate in (VictimFate.Fate.STOPPED, VictimFate.Fate.FINISHED)
        or (fate is None and at + datetime.timedelta(seconds=grace_s) <= now)
    }
