"""
Set up a simulated cluster through the services, and move it: submit, place, rounds, time.

Everything stands in the database that the process is connected to: use ``throwaway.database`` around it.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import IntegrityError, transaction

from scheduler import clock, models
from scheduler.core import decisions, entities, resources, states
from scheduler.services import (
    actors,
    locks,
    orders,
    people,
    policies,
    queues,
    reconcile,
    rounds,
    setup,
    submission,
    transitions,
)
from scheduler.services import nodes as node_services
from scheduler.services import work as unit
from scheduler.simulator import fleet as fleets
from scheduler.simulator import habits as habits_of

#: The moment at which a simulation begins.
BEGIN = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
GROUP = "simulated"
_BUILT_IN = ("cpu", "mem", "cuda.device")
#: How far back a simulation's past reaches: sessions that run already were submitted before.
PAST = datetime.timedelta(days=2)


class World:
    """One group with its nodes and their agents, on virtual time."""

    def __init__(self, rules: Mapping[str, Any], *, habits: habits_of.Habits = habits_of.SCRIPTED) -> None:
        self.time = clock.Virtual(BEGIN)
        self._rules = dict(rules)
        self.fleet = fleets.Fleet(habits)
        self.nodes: dict[str, models.Node] = {}

    @contextlib.contextmanager
    def running(self) -> Iterator[World]:
        """Enter virtual time and make the group."""
        with clock.virtual(self.time):
            self.group = setup.create_group(actors.SYSTEM, GROUP, reason="a simulation")
            yield self

    @contextlib.contextmanager
    def at(self, moment: datetime.datetime) -> Iterator[None]:
        """Do something at another moment, for example in the past; time then stands where it stood."""
        now, self.time.moment = self.time.moment, moment
        try:
            yield
        finally:
            self.time.moment = now

    # The cluster

    def declare(self, kinds: set[str]) -> None:
        """Declare the kinds of slots; named ones scale by 1000."""
        for kind in sorted(kinds - set(_BUILT_IN)):
            setup.create_slot_kind(actors.SYSTEM, kind, scale=1000)

    def obey(self) -> None:
        """Put the rules into force; before that preemption is off."""
        current = models.PolicyVersion.objects.get(pk=self._fresh_group().policy_id)
        changed = {name: value for name, value in self._rules.items() if getattr(current, name) != value}
        if changed:
            policies.change_policy(
                actors.SYSTEM,
                self.group,
                changes=changed,
                reason="the rules of the simulation",
                expected_version=current.version,
            )

    def _fresh_group(self) -> models.ResourceGroup:
        return models.ResourceGroup.objects.get(pk=self.group.pk)

    def add_node(self, name: str, capacity: Mapping[str, int], **columns: Any) -> None:
        """Add a node with its agent."""
        node = node_services.create_node(actors.SYSTEM, name, self.group, capacity=dict(capacity), **columns)
        self.nodes[name] = node
        self.fleet.join(node)

    def add_queue(self, slug: str, **columns: Any) -> models.Queue:
        """Add a queue that serves the group."""
        return queues.create_queue(actors.SYSTEM, slug, groups=[self.group], **columns)

    def owner(
        self, name: str, limits: Mapping[str, int] | None = None, *, most_sessions: int | None = None
    ) -> models.User:
        """Return a person who may submit; the first call makes them, with these limits of slots and sessions."""
        known = models.User.objects.filter(username=name).first()
        if known is not None:
            return known
        policy = people.create_resource_policy(
            actors.SYSTEM,
            f"of-{name}",
            max_slots=dict(limits or {}),
            max_concurrent_sessions=most_sessions,
            may_opt_out=True,
        )
        user = models.User(username=name, policy=policy)
        user.set_unusable_password()
        user.save()
        people.set_role(actors.SYSTEM, self.group, "manager", user=user)
        return user

    # Sessions

    def submit(self, owner: models.User, **wanted: Any) -> models.Session:
        """Submit a session, through the service; amounts in the smallest unit, under ``amounts``."""
        amounts: Mapping[str, int] = wanted.pop("amounts")
        slots = {kind: _as_text(kind, amount) for kind, amount in amounts.items()}
        request = submission.SubmitRequest(
            group=GROUP, argv=["/bin/true"], slots=slots, **{"queue": "q1", **wanted}
        )
        return submission.submit_session(actors.of_user(owner), request)

    def place(self, session: models.Session, held: Mapping[str, Mapping[str, int]]) -> None:
        """
        Start a waiting session on given nodes, without a round, and let its agents confirm it.

        Args:
            held: node -> kind -> amount.

        Raises:
            IntegrityError: the slots are not free there.
        """
        grants = tuple(self._grant(node, amounts) for node, amounts in held.items())
        node_ids = {grant.node_id for grant in grants}
        with unit.begin(actors.SYSTEM) as work:
            locked = locks.rows(
                owner_ids=[session.owner_id],
                queue_ids=[session.queue_id],
                node_ids=node_ids,
                session_ids=[session.pk],
            )[session.pk]
            deadline = orders.answer_deadline(work.now)
            trigger = states.Trigger.DISPATCH
            transitions.transition_session(work, locked, trigger, grants=grants, deadline=deadline)
            orders.start(work, locked, grants)
        self.fleet.act()

    def _grant(self, node: str, amounts: Mapping[str, int]) -> decisions.NodeGrant:
        row = self.nodes[node]
        indices: dict[str, tuple[int, ...]] = {}
        for kind in amounts:
            free = row.devices.filter(kind=kind, session=None, reservation=None).order_by("index")
            numbers = tuple(free.values_list("index", flat=True)[: amounts[kind]])
            if numbers:
                indices[kind] = numbers
        return decisions.NodeGrant(row.pk, resources.ResourceVector(amounts), indices)

    # Time and rounds

    def tick(self) -> rounds.RoundSummary | None:
        """Let agents speak, deadlines be looked at, one round run, and agents answer; time stands still."""
        self.before_round()
        summary = rounds.run_group_round(self.group.pk)
        self.fleet.act()
        return summary

    def before_round(self) -> None:
        """Let agents speak and deadlines be looked at."""
        self.fleet.beat()
        self.fleet.act()
        reconcile.run()
        self.fleet.act()

    def advance(self, seconds: int) -> None:
        """Let time pass; answers that fall due meanwhile are given at their own moments."""
        end = self.time.moment + datetime.timedelta(seconds=seconds)
        while (due := self.fleet.next_at()) is not None and due <= end:
            self.time.moment = max(due, self.time.moment)
            self.fleet.act()
        self.time.moment = end

    def node_state(self, name: str) -> entities.NodeState:
        """Return the state of a node."""
        row = models.Node.objects.values_list("state", flat=True).get(pk=self.nodes[name].pk)
        return entities.NodeState(row)

    def try_to_place(self, session: models.Session, held: Mapping[str, Mapping[str, int]]) -> bool:
        """Try what ``place`` does; False when the slots are kept for somebody else, and nothing changed."""
        try:
            with transaction.atomic():
                self.place(session, held)
        except IntegrityError:
            return False
        return True


def _as_text(kind: str, amount: int) -> str:
    if kind in ("mem", "cuda.device"):
        return str(amount)
    whole, rest = divmod(amount, 1000)
    return f"{whole}.{rest:03d}" if rest else str(whole)
