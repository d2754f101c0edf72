"""Bring the nodes, queues, owners and sessions of a case into a simulated cluster."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from scheduler import models
from scheduler.core import states
from scheduler.scenarios import entries, errors, history
from scheduler.services import actors, nodes
from scheduler.simulator import world as worlds


class Cast:
    """Who plays, by the names of the case."""

    def __init__(self, case: entries.Case, world: worlds.World) -> None:
        self.case = case
        self.world = world
        self.history = history.History(world)
        self._placed = 0

    def set_up(self, config: entries.Config, kinds: set[str]) -> None:
        """Make queues and nodes, and put the rules into force."""
        self._limits = config
        self.world.declare(kinds)
        queues = {queue.id: self._add_queue(queue) for queue in self.case.queues}
        for queue in self.case.queues:
            queues[queue.id].preemptible_queues.set([queues[name] for name in queue.preemptible_queues])
        for what in (*(node.id for node in self.case.nodes if node.devices), *_strangers(self.case)):
            raise errors.NotExpressible(f"{what} has a key that only a picture of kind select has")
        for node in self.case.nodes:
            self.world.add_node(node.id, node.cap, labels=dict(node.labels), max_sessions=node.max_sessions)
            if node.state not in ("ready", "draining"):
                raise errors.NotExpressible(
                    f"node {node.id} is {node.state}; in a story it becomes so by itself"
                )
            if node.state != "ready":
                nodes.set_node_state(
                    actors.SYSTEM, self.world.nodes[node.id], state=node.state, reason="as the case says"
                )
        self.world.obey()

    def _add_queue(self, queue: entries.QueueEntry) -> models.Queue:
        limits = self._limits.of_queue(queue)
        return self.world.add_queue(
            queue.id,
            preemptible=queue.preemptible,
            preemption_mode=queue.mode,
            preempt_policy=queue.policy,
            state=queue.state,
            max_slots=limits.slots,
            max_concurrent_sessions=limits.sessions,
        )

    def owner(self, name: str) -> models.User:
        """Return a person of the case."""
        limits = self._limits.of_owner(name)
        return self.world.owner(name, limits.slots, most_sessions=limits.sessions)

    def submit(self, one: entries.SessionEntry) -> models.Session:
        """
        Submit a waiting session, now or at its place in the order of submission.

        Raises:
            NotExpressible: it says of itself what only a picture can.
        """
        row = self._submit(one)
        self.history.submitted.append(one.id)
        return row

    def _submit(self, one: entries.SessionEntry) -> models.Session:
        if one.standing != entries.Standing():
            raise errors.NotExpressible(f"session {one.id} has keys that only a picture of kind select has")
        moment = self.world.time.moment
        if one.submitted is not None:
            moment = worlds.BEGIN - worlds.PAST + datetime.timedelta(seconds=one.submitted)
        with self.world.at(moment):
            row = self.world.submit(
                self.owner(one.owner),
                name=one.id,
                amounts=one.request,
                queue=one.queue,
                type=one.type,
                grace_period=one.grace_s,
                wall_limit=one.walltime_s,
                required_labels={label: list(values) for label, values in one.requires_any.items()},
                **one.wishes,
            )
        self.history.sessions[one.id] = row
        return row

    def run(self, one: entries.SessionEntry) -> None:
        """Submit a session in the past, and let it run since its start."""
        with self.world.at(self._start_of(one)):
            row = self._submit(one)
            models.Session.objects.filter(pk=row.pk).update(times_preempted=one.times_preempted)
            self.world.place(row, one.alloc)

    def take(self, one: entries.SessionEntry) -> bool:
        """Let a session take slots now, past the scheduler; False when they are kept for somebody else."""
        row = self._submit(one)
        return self.world.try_to_place(row, one.alloc)

    def _start_of(self, one: entries.SessionEntry) -> datetime.datetime:
        """
        Return when a session started: as it says, else an hour ago, each one second after the one before.

        One whose start nobody confirmed was dispatched just now; an older one would be late.
        """
        ago = one.started_s_ago
        if ago is None and one.state is states.SessionState.SCHEDULED:
            ago = 0
        if ago is None:
            ago = entries.STARTED_S_AGO - self._placed
        self._placed += 1
        return self.world.time.moment - datetime.timedelta(microseconds=int(ago * 1_000_000))


def _strangers(case: entries.Case) -> Iterable[str]:
    config = case.config
    return (*(queue.id for queue in case.queues if not queue.serves), *config.owner_used, *config.queue_used)


def kinds_of(case: entries.Case, sessions: Iterable[entries.SessionEntry]) -> set[str]:
    """Return every kind of slots that a case names."""
    amounts: list[Any] = [node.cap for node in case.nodes]
    for one in sessions:
        amounts += [one.request, *one.alloc.values()]
    return {kind for each in amounts for kind in each}
