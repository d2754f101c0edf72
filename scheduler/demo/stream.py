"""
A gentle stream of real sessions, so that a demo cluster looks alive and every page has something to show.

At each look at most one session is submitted: one of a fixed series, made from its number alone. The stream
yields to people. It submits only while less than a third of the group is in use, so they start at once.
It stops while one of its own waits. It uses no queue that preempts, and its sessions rank below all others.
"""

from __future__ import annotations

import dataclasses
import random

from celery import shared_task
from django.db.models import F, QuerySet, Sum

from scheduler import models
from scheduler.core import states
from scheduler.demo import commands, switch
from scheduler.services import actors, submission

#: marks the stream's sessions and carries their number in the series
MARK = "XCE_DEMO_NUMBER"
#: below the default of 10 and of zero: on the owner axis the stream's sessions give way, never others to them
JOB_PRIORITY = -100
FEWEST_ALIVE, MOST_ALIVE = 6, 10
#: the stream submits to a group while less than one part in so many of each kind is taken
SHARE = 3
SHORTEST_STEPS, LONGEST_STEPS = 30, 150

#: (owner, group, queue, slots): alice's sessions stay out of gpu, where she is the one who tries preemption
PLACES = (
    ("bob", "gpu", "normal", {"cpu": "2", "mem": "4g", "cuda.device": "1"}),
    ("alice", "batch", "normal", {"cpu": "1", "mem": "2g"}),
    ("carol", "batch", "background", {"cpu": "0.5", "mem": "1g"}),
    ("bob", "gpu", "background", {"cpu": "1", "mem": "2g", "cuda.device": "1"}),
    ("alice", "batch", "background", {"cpu": "1", "mem": "1g"}),
    ("bob", "batch", "normal", {"cpu": "0.5", "mem": "512m"}),
    ("carol", "batch", "normal", {"cpu": "1", "mem": "2g"}),
)
_S = states.SessionState
_WAITS = (_S.PENDING.value, _S.PREEMPTED.value, _S.SUSPENDED.value)


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """One session of the series, and whose it is."""

    owner: str
    request: submission.SubmitRequest


@shared_task(name="xce.demo_stream")
def look() -> None:
    """Submit the next session if the demo has its stream on, few enough are alive, and room is left."""
    if switch.is_on():
        submit_next()


def submit_next() -> models.Session | None:
    """Submit the next session of the series for which there is room; None when it is not the time for one."""
    alive = list(_sessions().exclude(state=_S.TERMINATED.value).exclude(is_held=True))
    first = last_number() + 1
    if len(alive) >= level(first) or any(session.state in _WAITS for session in alive):
        return None
    for plan in map(plan_for, range(first, first + len(PLACES))):
        if has_room(plan.request):
            return _submit(plan)
    return None


def _submit(plan: Plan) -> models.Session | None:
    owner = models.User.objects.filter(username=plan.owner, is_active=True).first()
    return submission.submit_session(actors.of_user(owner), plan.request) if owner else None


def plan_for(number: int) -> Plan:
    """Return the session of this number, 1 or more: always the same for the same number."""
    draw = random.Random(number)  # noqa: S311
    owner, group, queue, slots = PLACES[number % len(PLACES)]
    program = draw.choice(commands.NAMES)
    steps = draw.randint(SHORTEST_STEPS, LONGEST_STEPS)
    request = submission.SubmitRequest(
        name=f"{program}-{number}",
        group=group,
        queue=queue,
        argv=commands.compute(program, steps=steps, seed=number),
        environment={MARK: str(number)},
        slots=dict(slots),
        job_priority=JOB_PRIORITY,
        exit_0_after_warning="checkpointed",
    )
    return Plan(owner, request)


def level(number: int) -> int:
    """Return how many sessions may be alive with the one of this number: it rises and falls."""
    return random.Random(number // len(PLACES)).randint(FEWEST_ALIVE, MOST_ALIVE)  # noqa: S311


def last_number() -> int:
    """Return the number of the newest session of the stream, 0 before the first."""
    newest = _sessions().order_by("-id").first()
    return int(newest.environment[MARK]) if newest else 0


def has_room(request: submission.SubmitRequest) -> bool:
    """Say whether the ready nodes of the group have enough left of every kind that the request asks for."""
    slots = models.NodeSlot.objects.filter(node__group__slug=request.group, node__state="ready")
    sums = slots.values("kind").annotate(capacity=Sum("capacity"), taken=Sum(F("allocated") + F("reserved")))
    roomy = {row["kind"] for row in sums if row["taken"] * SHARE < row["capacity"]}
    return roomy.issuperset(request.slots)


def _sessions() -> QuerySet[models.Session]:
    return models.Session.objects.filter(environment__has_key=MARK)
