"""Steps of a ``lifecycle`` case: what people do, and what becomes of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler import models
from scheduler.scenarios import fields, rules, stages
from scheduler.services import actors, control, nodes, policies, queues

Step = Callable[[stages.Stage, fields.Fields], None]


def person(act: Callable[[actors.Actor, models.Session], None]) -> Step:
    """Return the step in which the owner of a session does something to it."""

    def step(stage: stages.Stage, found: fields.Fields) -> None:
        session = stage.session(found)
        act(stage.actor(session), session)

    return step


def set_job_priority(stage: stages.Stage, found: fields.Fields) -> None:
    """The owner changes the rank among their own sessions."""
    session = stage.session(found)
    control.change_session(stage.actor(session), session, job_priority=found.number("to"))


def set_priority(stage: stages.Stage, found: fields.Fields) -> None:
    """The owner changes the global priority."""
    session = stage.session(found)
    control.change_session(stage.actor(session), session, priority=found.number("to"))


def set_preemptible(stage: stages.Stage, found: fields.Fields) -> None:
    """The owner says whether the session may be preempted."""
    session = stage.session(found)
    control.change_session(stage.actor(session), session, is_preemptible=found.flag("to"))


def opt_out(stage: stages.Stage, found: fields.Fields) -> None:
    """The owner opts out of preemption."""
    session = stage.session(found)
    control.change_session(stage.actor(session), session, is_preemptible=False)


def admin_sets(stage: stages.Stage, found: fields.Fields) -> None:
    """An administrator changes the rules."""
    _change_policy(stage, rules.changes(found))


def switch(state: str) -> Step:
    """Return the step in which an administrator switches preemption."""

    def step(stage: stages.Stage, found: fields.Fields) -> None:
        _change_policy(stage, {"preemption_state": state})

    return step


def _change_policy(stage: stages.Stage, changes: dict[str, Any]) -> None:
    group = models.ResourceGroup.objects.select_related("policy").get(pk=stage.world.group.pk)
    assert group.policy is not None
    policies.change_policy(
        actors.SYSTEM,
        group,
        changes=changes,
        reason="a step of the case",
        expected_version=group.policy.version,
    )


def set_queue(stage: stages.Stage, found: fields.Fields) -> None:
    """An administrator changes a queue."""
    queue = models.Queue.objects.filter(slug=found.text("id")).first()
    if queue is None:
        raise found.fault("id", "names no queue of the case")
    changes: dict[str, object] = {}
    if found.take("preemptible") is not None:
        changes["preemptible"] = found.flag("preemptible")
    if found.take("state") is not None:
        changes["state"] = found.text("state")
    listed = found.words("preemptible_queues")
    if listed is not None:
        changes["preemptible_queues"] = listed
    queues.change_queue(actors.SYSTEM, queue, changes=changes, reason="a step of the case")


# What becomes of nodes


def node_state(state: str) -> Step:
    """Return the step in which an operator drains a node or makes it ready."""

    def step(stage: stages.Stage, found: fields.Fields) -> None:
        node = _node(stage, found)
        nodes.set_node_state(actors.SYSTEM, node, state=state, reason="a step of the case")

    return step


def silent(is_silent: bool) -> Step:
    """Return the step after which an agent is silent, or speaks again."""

    def step(stage: stages.Stage, found: fields.Fields) -> None:
        stage.fleet.agents[_node(stage, found).pk].is_silent = is_silent

    return step


def agent_restarts(stage: stages.Stage, found: fields.Fields) -> None:
    """An agent greets anew, with all that it holds."""
    stage.fleet.agents[_node(stage, found).pk].hello()


def node_reboots(stage: stages.Stage, found: fields.Fields) -> None:
    """A node comes back without any of its sessions."""
    agent = stage.fleet.agents[_node(stage, found).pk]
    agent.lose()
    agent.hello()


def _node(stage: stages.Stage, found: fields.Fields) -> models.Node:
    name = found.text("node", found.take("id"))
    if name not in stage.world.nodes:
        raise found.fault("id", f"names {name}, which is no node of the case")
    return stage.world.nodes[name]
