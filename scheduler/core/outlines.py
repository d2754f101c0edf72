"""
All decisions of a round in short, as plain data: what two runs of the same snapshot are compared by.

Source: DESIGN 7.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.core import decisions


def outline(found: Iterable[decisions.Decision]) -> dict[str, Any]:
    """
    Return what was decided, JSON-able; keys are session ids as text.

    Returns:
        ``dispatch``: session -> node ids; ``preempt`` and ``shadow``: session -> victims, node, axis, policy and
        reservation taken over; ``wait``: session -> node id; ``pend``: reason -> session ids, in the order of the line.
    """
    shown: dict[str, Any] = {"dispatch": {}, "preempt": {}, "shadow": {}, "wait": {}, "pend": {}}
    for decision in found:
        match decision:
            case decisions.Dispatch():
                shown["dispatch"][str(decision.session_id)] = [grant.node_id for grant in decision.grants]
            case decisions.Preempt():
                part = "shadow" if decision.is_shadow else "preempt"
                shown[part][str(decision.preempting_jobid)] = _preempt(decision)
            case decisions.Pend():
                _add_pend(shown, decision)
    return shown


def _preempt(decision: decisions.Preempt) -> dict[str, Any]:
    return {
        "victims": list(decision.victim_jobids),
        "node": decision.node_id,
        "axis": str(decision.axis),
        "policy": decision.policy_name,
        "takes_over": decision.takes_over,
    }


def _add_pend(shown: dict[str, Any], decision: decisions.Pend) -> None:
    shown["pend"].setdefault(str(decision.reason), []).append(decision.session_id)
    if decision.wait is not None:
        shown["wait"][str(decision.session_id)] = decision.wait.node_id


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """What one session was told, in an outline."""

    what: str  #: "starts", "stops" (others, for its sake) or "waits"
    node_ids: tuple[int, ...] = ()  #: where it starts, or where room is made or kept for it
    victims: tuple[int, ...] = ()
    axis: str = ""
    reason: str = ""  #: code of the headline of a wait


def by_session(shown: Mapping[str, Any]) -> dict[int, Told]:
    """Return session id -> what an outline says of it; of one for which others are stopped, that."""
    told: dict[int, Told] = {}
    for reason, ids in shown.get("pend", {}).items():
        told.update({session_id: Told("waits", reason=reason) for session_id in ids})
    for session_id, node_id in shown.get("wait", {}).items():
        known = told.get(int(session_id), Told("waits"))
        told[int(session_id)] = dataclasses.replace(known, node_ids=(node_id,))
    for session_id, node_ids in shown.get("dispatch", {}).items():
        told[int(session_id)] = Told("starts", tuple(node_ids))
    for session_id, stop in itertools.chain(
        shown.get("preempt", {}).items(), shown.get("shadow", {}).items()
    ):
        told[int(session_id)] = Told("stops", (stop["node"],), tuple(stop["victims"]), stop["axis"])
    return told
