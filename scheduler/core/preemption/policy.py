"""
What a preemption policy is asked and answers, and the registry by name.

A policy sees a covering problem of plain integers: per node the amounts still short (slots, session places,
limits of owner and queue), per legal candidate what it gives of each. It knows neither owners nor queues, so
it cannot break a guard; the planner checks its answer again all the same. Source: XCE spec AC2; DESIGN 5.2,
5.3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Protocol

from scheduler.core import entities, errors, proofs


class PolicyFailed(errors.CoreError):
    """
    The queue's preemption policy is missing, failed, or gave an answer that cannot be used.

    A policy that raises it says what it did, as in "did not answer within 1 s"; the planner puts its name in
    front.
    """


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """One legal victim on one node."""

    session_id: int
    value: int  #: what the axis compares: job_priority or priority
    gives: tuple[int, ...]  #: of each amount in the node's ``need``, never more than needed
    start: int  #: last start, microseconds; 0 when unknown
    share: int  #: share of slots that it frees on other nodes, in the problem's common fraction
    total_share: int  #: share of slots that it frees on all its nodes


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """One node where the preemptor could start."""

    node_id: int
    name: str
    rank: int  #: place in the order of the group's placement, 0 first
    need: tuple[int, ...]  #: amounts short, each >= 1
    candidates: tuple[Candidate, ...]  #: by session id; at least one
    most: int | None = None  #: how many of them may be stopped; None = all


class Meter:
    """Search steps that were spent on one question, by however many searches, and whether or not they found a set."""

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """For one preemptor: every node that its legal candidates could make free."""

    order: entities.PreemptionOrder
    targets: Sequence[Target]  #: by node name; the shipped policies read a ``tables.Table`` as columns
    steps: int  #: search steps that may be spent
    #: above the ``share`` of any set, so that ``value * scale + share`` compares both in order
    scale: int = 1
    #: counts the steps of all searches for this answer together; None = each may spend all
    meter: Meter | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The victims on one node, in the order in which they are stopped."""

    node_id: int
    victim_ids: tuple[int, ...]
    is_proved: bool = False  #: nothing better exists under the policy's own rule
    steps: int = 0
    proof: proofs.Proof | None = None  #: of the number of victims

    @property
    def is_fewest(self) -> bool:
        """Say whether it is proved that no fewer victims would do; nobody at all never does."""
        fewest = 1 if self.proof is None else self.proof.fewest
        return fewest == len(self.victim_ids)


class PreemptPolicy(Protocol):
    """Choose victims. Deterministic; raises ``PolicyFailed`` when it cannot answer."""

    def __call__(self, problem: Problem) -> Answer | None:
        """Return the victims, or None when no set of candidates suffices on any node."""


Policies = Mapping[str, PreemptPolicy]
