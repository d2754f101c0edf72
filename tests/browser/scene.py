"""A cluster worth looking at: sessions of three people in every state that a page explains, one of them preempted."""

from __future__ import annotations

import dataclasses
import json

from tests.system import stack as stacks

_SCRIPT = """
import json, time
from scheduler import models
from scheduler.demo import commands
from scheduler.services import actors, policies, submission

def submit(who, name, program, group, queue, **more):
    request = submission.SubmitRequest(
        name=name, group=group, queue=queue, argv=commands.compute(program, steps=600, seed=len(name)), **more
    )
    return submission.submit_session(actors.of_user(models.User.objects.get(username=who)), request)

def wait(rows, *states):
    end = time.monotonic() + 90
    for row in rows:
        while models.Session.objects.get(pk=row.pk).state not in states:
            assert time.monotonic() < end, f"{row.name} is not {states}"
            time.sleep(0.1)

gpus = lambda number: {"cuda.device": str(number), "cpu": str(2 * number), "mem": f"{8 * number}g"}
cores = lambda number: {"cpu": str(number), "mem": f"{2 * number}g"}
low = submit("alice", "train-resnet50", "training", "gpu", "normal", slots=gpus(4), job_priority=5)
wait([low], "running")
wait([
    submit("bob", "embed-corpus", "sorting", "gpu", "normal", slots=gpus(2)),
    submit("alice", "sweep-learning-rate", "training", "gpu", "normal", slots=gpus(1), job_priority=8),
    submit("bob", "crawl-news", "sorting", "batch", "background", slots=cores(8), priority=5),
    submit("carol", "nightly-report", "primes", "batch", "normal", slots=cores(4)),
    submit("carol", "thesis-plots", "pi", "batch", "normal", slots=cores(2)),
], "running")
group = models.ResourceGroup.objects.select_related("policy").get(slug="gpu")
policies.change_policy(
    actors.of_user(models.User.objects.get(username="admin")), group, changes={"preemption_state": "on"},
    reason="Releases go first this week", expected_version=group.policy.version,
)
high = submit("alice", "evaluate-release", "training", "gpu", "normal", slots=gpus(4), job_priority=30)
wait([high], "running")
wait([low], "suspended")
pending = submit("bob", "index-papers", "sorting", "gpu", "normal", slots=gpus(4))
never = submit("bob", "whole-genome", "sorting", "batch", "normal", slots=cores(9))
urgent = submit("alice", "hotfix-build", "primes", "batch", "urgent", slots=cores(8), priority=60)
end = time.monotonic() + 60
while models.PendReason.objects.filter(session__in=[pending, never, urgent]).count() < 3:
    assert time.monotonic() < end
    time.sleep(0.1)
decision = models.Decision.objects.filter(session=high, kind="preempt").get()
print(json.dumps({
    "preempted": str(low.public_id), "running": str(high.public_id), "pending": str(pending.public_id),
    "never": str(never.public_id), "decision": str(decision.public_id),
}))
"""


@dataclasses.dataclass(frozen=True)
class Scene:
    """Public ids of what there is to look at."""

    preempted: str
    running: str
    pending: str
    never: str
    decision: str


def play(stack: stacks.Stack) -> Scene:
    """Submit everything and wait until each session is where it belongs."""
    return Scene(**json.loads(stack.run(_SCRIPT)))
