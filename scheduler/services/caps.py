"""
A cap of priorities that is lowered holds for whoever waits already (P09): their priority goes down with it.

Whoever sets a priority shares the lock of all caps and reads the cap under it; whoever changes a cap takes that lock
alone. So no session comes into being above a cap that was lowered meanwhile. Sessions that run keep their priority.
"""

from __future__ import annotations

from django.db.models import Q

from scheduler import models
from scheduler.core import states
from scheduler.services import claims, locks, priorities, transitions, withdrawals
from scheduler.services import work as unit

S = states.SessionState


def apply_queue(work: unit.Work, queue: models.Queue) -> int:
    """Lower what waits in a queue to its cap; returns how many. Under ``locks.change_caps``."""
    return _lower(work, Q(queue=queue), queue.max_priority)


def apply_policy(work: unit.Work, policy: models.KeypairResourcePolicy, *, before: int) -> int:
    """
    Lower what waits under a policy to its cap; returns how many. Under ``locks.change_caps``.

    A session does not note its policy: those of people and of keypairs in force that have it count, as far as the cap
    that was copied to the session is not above what the policy gave (``before``).
    """
    people = models.User.objects.filter(
        Q(policy=policy) | Q(keypairs__policy=policy, keypairs__is_active=True)
    )
    theirs = Q(owner__in=people, priority_cap__lte=before)
    return _lower(work, theirs, policy.max_priority)


def _lower(work: unit.Work, which: Q, limit: int) -> int:
    waiting = Q(state=S.PENDING.value, priority_cap__gt=limit)
    ids = set(models.Session.objects.filter(which, waiting).values_list("pk", flat=True))
    rows = [row for row in locks.together(ids).values() if row.state == S.PENDING]
    return sum(_lower_one(work, row, limit) for row in rows)


def _lower_one(work: unit.Work, row: models.Session, limit: int) -> int:
    changed = priorities.lowered(row, limit)
    if not changed:
        return 0
    before = {name: getattr(row, name) for name in changed}
    is_lower = changed["priority"] < row.priority
    transitions.touch(row, **changed)
    if is_lower:
        facts = {"before": before, "after": changed, "reason": "cap lowered"}
        work.tell("session.changed", session=row, changed=("priority", "priority_cap"), **facts)
        withdrawals.holder_edited(work, row)
        claims.end(work, row, cause="edited")
        models.PreemptionEdge.objects.filter(Q(winner=row) | Q(loser=row)).delete()
        work.ask_round(row.group_id)
    return int(is_lower)
