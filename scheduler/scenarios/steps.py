"""
The steps of a ``lifecycle`` case: what each does to the simulated cluster.

Every step takes the fields of its own table. Agents answer starts, resumes, withdrawals, cancels and kills by
themselves; a stop is proven when a step says so. Rounds run at ticks alone.
"""

from __future__ import annotations

import concurrent.futures
import contextvars

from django.db import connections

from scheduler.core import states
from scheduler.scenarios import agent_steps, entries, errors, fields, people_steps, reading, stages
from scheduler.services import control, rounds

S = states.SessionState
_MOST_WORKERS = 8


# Sessions


def _running(stage: stages.Stage, found: fields.Fields) -> None:
    for one in _new(stage, found, is_running=True):
        _run(stage, one)


def _run(stage: stages.Stage, one: entries.SessionEntry) -> None:
    if one.state is S.SCHEDULED:
        stage.fleet.withhold_starts()
    elif one.state is not S.RUNNING:
        raise errors.NotExpressible(
            f"session {one.id} is {one.state.name}; a story begins with RUNNING and SCHEDULED"
        )
    stage.cast.run(one)
    stage.fleet.let_starts()


def bring(stage: stages.Stage) -> None:
    """Bring the sessions that the case has from the beginning, besides its steps."""
    for one in stage.cast.case.running:
        _run(stage, one)
    for one in stage.cast.case.pending:
        stage.cast.submit(one)


def _submit(stage: stages.Stage, found: fields.Fields) -> None:
    for one in _new(stage, found, is_running=False):
        stage.cast.submit(one)


def _taken_by_other(stage: stages.Stage, found: fields.Fields) -> None:
    found.take("owner", "somebody-else")
    for one in _new(stage, found, is_running=True):
        if not stage.cast.take(one):
            stage.history.remarks.append(f"{one.id} did not get the slots: they are kept")


def _new(stage: stages.Stage, found: fields.Fields, *, is_running: bool) -> list[entries.SessionEntry]:
    new = reading.session(found, is_running=is_running)
    case = stage.cast.case
    for one in new:
        if one.id in stage.history.sessions:
            raise found.fault("id", f"brings {one.id} a second time")
        known = {"nodes": {node.id for node in case.nodes}, "queues": {queue.id for queue in case.queues}}
        reading.check_session(one, fault=lambda key, text: found.fault("id", text), **known)
    return new


# Time and rounds


def _tick(stage: stages.Stage, found: fields.Fields) -> None:
    phase = found.word("phase", "whole", ("whole", "plan", "commit"))
    times = found.count("times", 1, least=1, most=stages.MOST_TIMES)
    if phase == "plan":
        stage.world.before_round()
        stage.thought = rounds.think(stage.world.group.pk)
    elif phase == "commit":
        if stage.thought is None:
            raise found.fault("phase", "is commit, and no phase plan came before")
        rounds.write(stage.thought)
        stage.thought = None
        stage.fleet.act()
    else:
        for _ in range(times):
            stage.world.tick()


def _tick_in_parallel(stage: stages.Stage, found: fields.Fields) -> None:
    workers = found.count("workers", 2, least=1, most=_MOST_WORKERS)
    stage.world.before_round()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        contexts = [contextvars.copy_context() for _ in range(workers)]
        runs = [pool.submit(context.run, _round_apart, stage.world.group.pk) for context in contexts]
        for run in runs:
            run.result()
    stage.fleet.act()


def _round_apart(group_id: int) -> None:
    """Run a round over a connection of this thread's own."""
    try:
        rounds.run_group_round(group_id)
    finally:
        connections.close_all()


def _advance(stage: stages.Stage, found: fields.Fields) -> None:
    stage.world.advance(found.count("seconds", 0))


STEPS: dict[str, people_steps.Step] = {
    "running": _running,
    "submit": _submit,
    "taken_by_other": _taken_by_other,
    "tick": _tick,
    "tick_in_parallel": _tick_in_parallel,
    "advance_s": _advance,
    "stopped": agent_steps.stopped,
    "suspended": agent_steps.stopped,
    "stop_failed": agent_steps.stop_failed,
    "started": agent_steps.started,
    "start_failed": agent_steps.start_failed,
    "warned": agent_steps.noted,
    "signal_delivered": agent_steps.noted,
    "finished": agent_steps.finished,
    "failed": agent_steps.failed,
    "late_exit_report": agent_steps.late_exit_report,
    "report_again": agent_steps.report_again,
    "cancel": people_steps.person(control.cancel_session),
    "hold": people_steps.person(control.hold_session),
    "release": people_steps.person(control.release_session),
    "suspend": people_steps.person(control.suspend_session),
    "resume": people_steps.person(control.resume_session),
    "requeue": people_steps.person(control.requeue_session),
    "set_job_priority": people_steps.set_job_priority,
    "set_priority": people_steps.set_priority,
    "set_preemptible": people_steps.set_preemptible,
    "opt_out": people_steps.opt_out,
    "admin_sets": people_steps.admin_sets,
    "enable": people_steps.switch("on"),
    "disable": people_steps.switch("off"),
    "shadow": people_steps.switch("shadow"),
    "set_queue": people_steps.set_queue,
    "drain": people_steps.node_state("draining"),
    "undrain": people_steps.node_state("ready"),
    "agent_silent": people_steps.silent(True),
    "agent_speaks": people_steps.silent(False),
    "agent_restarts": people_steps.agent_restarts,
    "node_reboots": people_steps.node_reboots,
}
#: Other words for the same steps.
SYNONYMS = {
    "advance": "advance_s",
    "wait": "advance_s",
    "killed": "stopped",
    "stop_confirmed": "stopped",
    "start_confirmed": "started",
    "exits": "finished",
    "ended": "finished",
    "node_drained": "drain",
    "node_down": "agent_silent",
    "node_up": "agent_speaks",
    "switch_on": "enable",
    "switch_off": "disable",
    "set_config": "admin_sets",
}
STEPS |= {word: STEPS[meant] for word, meant in SYNONYMS.items()}
#: Steps that the case itself is made of: they say how the others are played.
FRAMES = ("for_each_mode", "loop")
