"""What happened in a simulated cluster so far, in the names of the case: for its expectations."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from scheduler import models
from scheduler.core import entities, states
from scheduler.scenarios import answers
from scheduler.simulator import world as worlds

S = states.SessionState
Kind = models.Decision.Kind
#: Outcomes as a case writes them -> (kind, cause or "" for any)
OUTCOMES: Mapping[str, tuple[str, str]] = {
    "used": ("used", ""),
    "partly": ("partly", ""),
    "wasted": ("wasted", ""),
    "transferred": ("transferred", ""),
    "withdrawn": ("withdrawn", ""),
    "timed-out": ("wasted", "timed out"),
}
#: What an owner is told, as a case writes it -> the event that tells it.
NOTICES: Mapping[str, str] = {
    "warned": "session.preempted",
    "warning withdrawn": "session.withdrawn",
    "suspended": "session.suspended",
    "requeued": "session.requeued",
    "ended": "session.ended",
    "started": "session.started",
    "stop failed": "session.stop_failed",
    "stuck": "session.stuck",
}


@dataclasses.dataclass(frozen=True)
class Kept:
    """A reservation as it stood."""

    node: str
    drawn: Mapping[str, int]
    asked: Mapping[str, int]
    promised: Mapping[str, int]  #: what the sessions that it waits for still hold on the node


@dataclasses.dataclass(frozen=True)
class Look:
    """The cluster after one step."""

    step: int  #: counted from 1
    is_tick: bool
    states: Mapping[str, str]  #: session -> state, upper case
    used: Mapping[str, Mapping[str, int]]  #: node -> kind -> allocated and reserved
    kept: Mapping[str, Kept]  #: session -> its reservation
    waits: Mapping[str, models.PendReason]  #: session -> why it waits
    decisions: frozenset[int]  #: preemptions so far
    nodes: Mapping[str, list[str]] = dataclasses.field(
        default_factory=dict
    )  #: session -> where it holds something


@dataclasses.dataclass
class History:
    """The looks after each step, and what the database says at the end."""

    world: worlds.World
    sessions: dict[str, models.Session] = dataclasses.field(default_factory=dict)
    submitted: list[str] = dataclasses.field(default_factory=list)  #: those that waited, in order
    looks: list[Look] = dataclasses.field(default_factory=list)
    remarks: list[str] = dataclasses.field(default_factory=list)  #: what a step found out, in words

    def name_of(self, session_id: int) -> str:
        """Return the name of a session."""
        return next(name for name, row in self.sessions.items() if row.pk == session_id)

    def look(self, step: int, *, is_tick: bool) -> None:
        """Note how the cluster stands after a step."""
        self.looks.append(
            Look(
                step,
                is_tick,
                self._states(),
                self._used(),
                self._kept(),
                self._waits(),
                frozenset(row.pk for row in self.preemptions()),
                {name: self.nodes_of(name) for name in self.sessions},
            )
        )

    def _states(self) -> dict[str, str]:
        rows = dict(models.Session.objects.values_list("pk", "state"))
        return {name: S(rows[row.pk]).name for name, row in self.sessions.items()}

    def _used(self) -> dict[str, dict[str, int]]:
        used: dict[str, dict[str, int]] = {name: {} for name in self.world.nodes}
        rows = models.NodeSlot.objects.values_list("node__name", "kind", "allocated", "reserved")
        for node, kind, allocated, reserved in rows:
            used[node][kind] = allocated + reserved
        return used

    def _kept(self) -> dict[str, Kept]:
        rows = models.Reservation.objects.filter(is_consumed=False).select_related("node")
        return {self.name_of(row.session_id): self._one_kept(row) for row in rows}

    def _one_kept(self, row: models.Reservation) -> Kept:
        promised: dict[str, int] = {}
        held = models.Allocation.objects.filter(session__in=row.waits_for.all(), node=row.node)
        for slots in held.values_list("slots", flat=True):
            for kind, amount in slots.items():
                promised[kind] = promised.get(kind, 0) + amount
        return Kept(row.node.name, row.drawn, row.slots, promised)

    def _waits(self) -> dict[str, models.PendReason]:
        return {self.name_of(row.session_id): row for row in models.PendReason.objects.all()}

    # What the database says

    def state(self, name: str) -> str:
        """Return a session's state now, upper case."""
        return self.looks[-1].states[name]

    def row(self, name: str) -> models.Session:
        """Return a session as it is now."""
        return models.Session.objects.get(pk=self.sessions[name].pk)

    def nodes_of(self, name: str) -> list[str]:
        """Return the nodes that a session holds now, sorted."""
        return sorted(self.row(name).allocations.values_list("node__name", flat=True))

    def preemptions(self, name: str | None = None) -> list[models.Decision]:
        """Return every decision to stop somebody, oldest first; of one preemptor when it is named."""
        rows = models.Decision.objects.filter(kind=Kind.PREEMPT).order_by("pk")
        if name is not None:
            rows = rows.filter(session=self.sessions[name])
        return list(rows.select_related("node"))

    def victims(self, decision: models.Decision) -> list[str]:
        """Return the names of a decision's victims, sorted."""
        return sorted(self.name_of(pk) for pk in decision.victims.values_list("session_id", flat=True))

    def outcome(self, decision: models.Decision) -> tuple[str, str]:
        """Return outcome and cause of a decision, empty while it is open; one given up counts by its cause."""
        row = models.Outcome.objects.filter(decision=decision).first()
        if row is not None:
            return row.kind, row.cause
        given_up = models.GivenUp.objects.filter(decision=decision).first()
        return ("", given_up.cause) if given_up else ("", "")

    def times_stopped(self, name: str) -> int:
        """Return how often a session was preempted: told to stop, and stopped."""
        return self.row(name).times_preempted

    def notices(self, name: str) -> list[str]:
        """Return what the owner of a session was told about it, oldest first, in the words of cases."""
        words = {event: word for word, event in NOTICES.items()}
        types = models.Event.objects.filter(session=self.sessions[name]).order_by("number")
        return [words[type_] for type_ in types.values_list("type", flat=True) if type_ in words]

    def answer(self, name: str) -> answers.Answer:
        """Return what became of a submitted session."""
        row = self.row(name)
        wait = models.PendReason.objects.filter(session=row).first()
        reason = wait.reason if wait and row.state in (S.PENDING, S.SUSPENDED) else ""
        stops = self.preemptions(name)
        if stops:
            victims = tuple(sorted({victim for stop in stops for victim in self.victims(stop)}))
            last = stops[-1]
            order = entities.PreemptionOrder(last.round.policy.preemption_order)
            rule = answers.rule_in_force(entities.Axis(last.axis), order, last.policy_name)
            return answers.Answer(answers.Outcome.PREEMPT, victims, last.node.name, rule, reason)
        waited = models.Decision.objects.filter(kind=Kind.WAIT, session=row).select_related("node").last()
        if waited is not None:
            return answers.Answer(answers.Outcome.WAIT, target=waited.node.name, reason=reason)
        run = models.Run.objects.filter(session=row).order_by("pk").last()
        if run is not None:
            return answers.Answer(answers.Outcome.PLACE, target=",".join(run.node_names), reason=reason)
        return answers.Answer(answers.Outcome.PEND, reason=reason)
