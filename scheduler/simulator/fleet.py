"""
The agents of a simulated cluster: they read the outbox, and answer on virtual time.

Answers that are due are given in the order of their moments, then of their commands. A command that was superseded
before its answer was due is not answered, as an agent would not.
"""

from __future__ import annotations

import datetime

from scheduler import clock, models
from scheduler.protocol import codec, fields, messages
from scheduler.simulator import agents
from scheduler.simulator import habits as habits_of


class Fleet:
    """All agents of one simulated cluster."""

    def __init__(self, habits: habits_of.Habits = habits_of.SCRIPTED) -> None:
        self.habits = habits
        self.agents: dict[int, agents.Agent] = {}
        self._due: list[tuple[datetime.datetime, int]] = []
        self._seen: set[int] = set()
        self._starts_wait = False

    def withhold_starts(self) -> None:
        """From now on new starts are answered only when an agent is told to."""
        self._starts_wait = True

    def let_starts(self) -> None:
        """From now on new starts are answered by habit again."""
        self._take_in()
        self._starts_wait = False

    def join(self, node: models.Node) -> agents.Agent:
        """Give a node an agent, which greets."""
        agent = self.agents[node.pk] = agents.Agent(node)
        agent.hello()
        return agent

    def beat(self) -> None:
        """Let every agent say that it lives."""
        for _, agent in sorted(self.agents.items()):
            agent.heartbeat()

    def act(self) -> int:
        """
        Take new commands in and give every answer that is due now, until nothing is.

        Returns:
            The number of answers.
        """
        count = 0
        while True:
            self._take_in()
            now = clock.now()
            ready = sorted(pair for pair in self._due if pair[0] <= now)
            if not ready:
                return count
            self._due.remove(ready[0])
            count += self._answer(ready[0][1], now)

    def next_at(self) -> datetime.datetime | None:
        """Return when the next answer is due; None = nothing comes by itself."""
        self._take_in()
        return min(self._due)[0] if self._due else None

    def _take_in(self) -> None:
        rows = models.AgentCommand.objects.filter(settled_at=None).exclude(pk__in=self._seen).order_by("pk")
        for row in rows:
            agent = self.agents.get(row.node_id)
            if agent is None or agent.is_silent:
                continue
            self._seen.add(row.pk)
            command = codec.decode(row.body)
            assert isinstance(command, messages.Command)
            agent.begin(command, row.created_at)
            seconds = self._seconds(command)
            if seconds is not None:
                self._due.append((row.created_at + datetime.timedelta(seconds=seconds), row.pk))

    def _seconds(self, command: messages.Command) -> int | None:
        habits = self.habits
        match command:
            case messages.StartCommand() if self._starts_wait:
                return None
            case messages.StopCommand(action=fields.StopAction.SUSPEND):
                return habits.suspend_s
            case messages.StopCommand():
                return None if habits.stop_s is None else min(habits.stop_s, command.grace_ms // 1000)
        return {
            messages.StartCommand: habits.start_s,
            messages.KillCommand: habits.kill_s,
            messages.ResumeCommand: habits.resume_s,
            messages.WithdrawCommand: habits.withdraw_s,
            messages.CancelStartCommand: habits.cancel_start_s,
        }.get(type(command))

    def _answer(self, command_pk: int, now: datetime.datetime) -> int:
        row = models.AgentCommand.objects.filter(pk=command_pk, settled_at=None).first()
        if row is None:
            return 0
        command = codec.decode(row.body)
        assert isinstance(command, messages.Command)
        self.agents[row.node_id].answer(command, now)
        return 1

    # What a script makes an agent do

    def open_command(
        self, session: models.Session, kind: type[messages.Command]
    ) -> list[tuple[agents.Agent, messages.Command]]:
        """Return, by node, the open commands of one kind for a session with the agents that have them."""
        self._take_in()
        rows = models.AgentCommand.objects.filter(session=session, settled_at=None, kind=kind.TYPE)
        return [(self.agents[row.node_id], codec.decode(row.body)) for row in rows.order_by("node_id")]  # type: ignore[misc]

    def stopping(self, session: models.Session) -> list[tuple[agents.Agent, messages.StopCommand]]:
        """Return the agents that are stopping a session, with the stop; a refused withdrawal ends none."""
        found = []
        for agent in self.on(session):
            run = agent.run(str(session.public_id))
            if run is not None and run.stop is not None and not run.is_over:
                found.append((agent, run.stop))
        return found

    def on(self, session: models.Session) -> list[agents.Agent]:
        """Return the agents of the nodes that a session holds."""
        self._take_in()
        node_ids = session.allocations.order_by("node_id").values_list("node_id", flat=True)
        return [self.agents[node_id] for node_id in node_ids]
