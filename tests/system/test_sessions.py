"""Sessions through the whole machine: a trace is run to its end, and nothing is lost when a part is killed."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import uuid

import pytest

from tests.system import stack as stacks
from tests.system import sweep

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]
PODS = pathlib.Path(__file__).resolve().parent.parent / "data" / "traces" / "pods.csv"

_FACTS = """
import json
from scheduler import models
S, E = models.Session.objects, models.Event.objects
one = S.get(name={name!r})
tail = one.outputs.order_by('attempt').values_list('tail', flat=True).last() or ''
print(json.dumps(dict(
    id=str(one.public_id), state=one.state, attempt=one.attempt, epoch=one.epoch,
    lines=tail.count('step '), sessions=S.count(), events=E.count(), last=models.EventCounter.objects.get().last,
    ends=list(one.runs.order_by('attempt').values_list('how_ended', flat=True)),
    reason=E.filter(session=one, type='session.requeued').values_list('data__reason', flat=True).last(),
)))
"""
_SUBMIT = """
from scheduler import models
from scheduler.demo import commands
from scheduler.services import actors, submission
me = actors.of_user(models.User.objects.get(username='alice'))
submission.submit_session(me, submission.SubmitRequest(
    name={name!r}, group='batch', queue='normal', argv=commands.compute('primes', steps=600, seed=1),
    slots=dict(cpu='0.5', mem='128m')))
"""
_CANCEL = """
from scheduler import models
from scheduler.services import actors, control
control.cancel_session(actors.of_command('test'), models.Session.objects.get(name={name!r}))
"""


def _facts(stack: stacks.Stack, name: str) -> dict[str, int]:
    return json.loads(stack.run(_FACTS.format(name=name)))


def _settled(stack: stacks.Stack) -> bool:
    return stack.manage("verify_invariants").returncode == 0


def test_a_trace_runs_to_its_end_and_the_ledgers_agree(stack):
    made = stack.manage("submit_trace", "--make-group", "--nodes", "2", "--preemption", "on")
    assert made.returncode == 0, made.stderr

    done = stack.manage(
        "submit_trace",
        str(PODS),
        "--last",
        "20",
        "--speed",
        "500",
        "--min-life",
        "1",
        "--wait",
        "--wait-limit",
        "150",
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 alive" in done.stdout.splitlines()[-1]
    assert "INFO" not in made.stderr + done.stderr
    stacks.until(lambda: _settled(stack), what="clean invariants", deadline_s=20)


@pytest.fixture
def counting(stack):
    """Name of a session that runs and counts on; it is cancelled at the end."""
    name = f"counting-{uuid.uuid4().hex[:8]}"
    stack.run(_SUBMIT.format(name=name))
    stacks.until(lambda: _facts(stack, name)["lines"] >= 1, what="a session that counts", deadline_s=120)
    yield name
    stack.run(_CANCEL.format(name=name))
    stacks.until(lambda: _facts(stack, name)["state"] == "terminated", what="its end", deadline_s=60)


def test_p03_killing_each_part_in_turn_loses_no_session_and_no_event(stack, counting):
    before = _facts(stack, counting)
    agents = [name for name in stack.processes() if name.startswith("agent-batch")]

    for name in [*agents, "worker", "beat", "web"]:
        stack.kill(name)
    after = stacks.until(
        lambda: (found := _facts(stack, counting))["lines"] > before["lines"] + 3 and found,
        what="a session that goes on counting",
        deadline_s=90,
    )

    assert (after["state"], after["attempt"], after["epoch"]) == (
        "running",
        before["attempt"],
        before["epoch"],
    )
    assert after["sessions"] >= before["sessions"]
    assert after["events"] == after["last"] >= before["events"]
    stacks.until(lambda: _settled(stack), what="clean invariants", deadline_s=30)


def _processes(stack: stacks.Stack, session: str) -> tuple[int, int]:
    """Return a session's first process and its supervisor."""
    (job,) = stacks.until(lambda: sweep.processes(stack.data_dir).get(session), what="its process")
    stat = pathlib.Path(f"/proc/{job}/stat").read_text()
    return job, int(stat.rpartition(")")[2].split()[1])


def test_p03_an_end_that_nobody_saw_is_told_as_lost_and_the_session_starts_anew(stack, counting):
    before = _facts(stack, counting)
    job, supervisor = _processes(stack, before["id"])
    for pid in (supervisor, job):
        os.kill(pid, signal.SIGKILL)
    after = stacks.until(
        lambda: (found := _facts(stack, counting))["attempt"] > 1 and found["state"] == "running" and found,
        what="a second attempt",
        deadline_s=120,
    )

    assert (after["ends"], after["lines"] >= 0) == (["lost", ""], True)
    assert after["reason"] == "exit status unknown"
    assert after["epoch"] > before["epoch"]


def test_the_sweep_names_what_disagrees():
    found = {"b": [7], "c": [8], "d": [9]}
    steady = {"a": "running 3", "b": "suspended 4", "c": "pending 5", "d": "stopping 6"}

    assert sweep.compare(steady, found) == [
        "session a is running and has no process",
        "session c waits and has processes [8]",
    ]
