"""Sessions through the whole machine: a trace is run to its end, and nothing is lost when a part is killed."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.system import stack as stacks

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]
PODS = pathlib.Path(__file__).resolve().parent.parent / "data" / "traces" / "pods.csv"

_FACTS = """
import json
from scheduler import models
S, E = models.Session.objects, models.Event.objects
one = S.get(name={name!r})
tail = one.outputs.order_by('attempt').values_list('tail', flat=True).last() or ''
print(json.dumps(dict(
    state=one.state, attempt=one.attempt, epoch=one.epoch, lines=tail.count('step '), sessions=S.count(),
    events=E.count(), last=models.EventCounter.objects.get().last,
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


def _shell(stack: stacks.Stack, script: str) -> str:
    done = stack.manage("shell", "-v0", "-c", script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _facts(stack: stacks.Stack, name: str) -> dict[str, int]:
    return json.loads(_shell(stack, _FACTS.format(name=name)))


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
    stacks.until(lambda: _settled(stack), what="clean invariants", deadline_s=20)


@pytest.fixture
def counting(stack):
    """Name of a session that runs and counts on; it is cancelled at the end."""
    name = "counting"
    _shell(stack, _SUBMIT.format(name=name))
    stacks.until(lambda: _facts(stack, name)["lines"] >= 1, what="a session that counts", deadline_s=120)
    yield name
    _shell(stack, _CANCEL.format(name=name))
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
