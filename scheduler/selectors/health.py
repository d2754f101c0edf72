"""Whether the machine behind the pages is at work: what it has written lately, and what has waited for too long."""

from __future__ import annotations

import datetime

from django.conf import settings

from scheduler import clock, models
from scheduler.core import entities
from scheduler.services import listening

#: A command that is due for so long was passed over: the reconciler sends again what is due every second.
_OVERDUE_S = 30
_HEARD = (entities.NodeState.READY.value, entities.NodeState.DRAINING.value)


def scheduler_problem() -> str:
    """Say what is wrong with the scheduler, empty when it looks every second. One query."""
    last = models.Listening.objects.values_list("last_at", flat=True).first()
    if last is None:
        return "the scheduler has never looked: start worker and beat"
    silent = clock.now() - last
    if silent <= datetime.timedelta(seconds=listening.BREAK_S * settings.TIME_SCALE):
        return ""
    return f"the scheduler has not looked for {silent.total_seconds():.0f} s: look at worker, beat and broker"


def outbox_problem() -> str:
    """Say how many commands wait to be sent to nodes that are heard, empty when none is late. One query."""
    limit = clock.now() - datetime.timedelta(seconds=_OVERDUE_S * settings.TIME_SCALE)
    late = models.AgentCommand.objects.filter(
        settled_at=None, send_again_at__lt=limit, node__state__in=_HEARD
    )
    count = late.count()
    return (
        f"{count} commands have been due for more than {_OVERDUE_S} s: look at worker and broker"
        if count
        else ""
    )
