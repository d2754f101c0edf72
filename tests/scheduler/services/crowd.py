"""Many at once: threads with connections of their own, and an agent that answers whatever it is asked, at random."""

from __future__ import annotations

import concurrent.futures
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import connections

from scheduler import models
from scheduler.protocol import fields, messages
from tests import agent_double
from tests.scheduler.services import staging

DEADLINE_S = 60
#: command -> what may be said to it, the likely answer first
ANSWERS: dict[type[messages.Command], tuple[tuple[type[messages.Report], dict[str, Any]], ...]] = {
    messages.StartCommand: (
        (messages.Started, staging.STAGES[messages.Started][1]),
        (messages.StartFailed, {"error": "no such program"}),
    ),
    messages.StopCommand: (
        (messages.Stopped, staging.STOPPED),
        (messages.StopFailed, {"running": (), "reason": "still running"}),
        (messages.Ended, staging.ENDED),
    ),
    messages.ResumeCommand: (
        (messages.Resumed, {"members": ()}),
        (messages.ResumeFailed, {"error": "stuck"}),
    ),
    messages.WithdrawCommand: (
        (messages.Withdrawn, {}),
        (messages.WithdrawRefused, {"reason": fields.WithdrawRefusal.SUSPENDED}),
    ),
    messages.CancelStartCommand: (
        (messages.StartRefused, {"reason": fields.StartRefusal.CANCELLED}),
        (messages.StartedAlready, {}),
    ),
    messages.KillCommand: ((messages.Ended, staging.ENDED), (messages.Gone, {})),
}


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run each call in a thread with a connection of its own; return their answers, raise the first error."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(_apart, call) for call in calls]]


def _apart(call: Callable[[], Any]) -> Any:
    try:
        return call()
    finally:
        connections.close_all()


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    """Wait until something is so, and fail when it is not in time."""
    end = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < end, f"waited in vain until {what}"
        threading.Event().wait(0.005)


def answer_one(agent: agent_double.AgentDouble, choice: random.Random, *, luck: float = 0.8) -> bool:
    """
    Answer one open command of a node.

    Args:
        luck: how often the answer is the likely one.

    Returns:
        Whether there was one.
    """
    commands = agent.open_commands()
    if not commands:
        return False
    command = choice.choice(commands)
    possible = ANSWERS[type(command)]
    if isinstance(command, messages.StopCommand) and command.action == fields.StopAction.KILL:
        possible = ANSWERS[messages.KillCommand][:1]
    report, facts = possible[0] if choice.random() < luck else choice.choice(possible)
    agent.send(report(**agent._about(command), **facts))
    return True


def end_one(agent: agent_double.AgentDouble, choice: random.Random) -> None:
    """Let one session that runs on a node end by itself."""
    running = list(models.Session.objects.filter(state="running", allocations__node=agent.node))
    if running:
        agent.ends(choice.choice(running), choice.choice((0, 1)))


def settle(agents: list[agent_double.AgentDouble], choice: random.Random) -> None:
    """Answer everything that is open as expected, until nothing is."""
    for agent in agents:
        while answer_one(agent, choice, luck=1):
            pass
