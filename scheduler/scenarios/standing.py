"""
What only pictures have: reservations, edges, and what else a stored snapshot knows of its sessions.

People seldom write these keys; ``written`` does, so that a stored decision runs again from a file.
"""

from __future__ import annotations

from typing import Any

from scheduler.core import entities
from scheduler.scenarios import entries, fields, located

_MODES = ("", *(str(mode) for mode in entities.PreemptionMode))
_DEPENDENCIES = [str(state) for state in entities.DependencyState]


def of_session(found: fields.Fields) -> entries.Standing:
    """Return what a session's table says besides."""
    holds = found.table("holds") if found.take("holds") is not None else None
    backoff = found.table("backoff_s")
    deadline, releases = found.seconds("stop_deadline_s"), found.words("stop_releases")
    return entries.Standing(
        stop_mode=found.word("stop_mode", "", _MODES),
        stop_releases=None if releases is None else tuple(releases),
        is_counted=found.flag("counted", True),
        stop_deadline_s=1 if deadline is None else deadline,
        in_decision=found.flag("in_decision") if found.take("in_decision") is not None else None,
        is_withdrawing=found.flag("withdrawing"),
        is_resume=found.flag("resume"),
        stop_failed=found.flag("stop_failed"),
        holds=None if holds is None else {node: holds.amounts(node) for node in holds.names()},
        devices=_devices(found, "devices"),
        holds_devices=_devices(found, "holds_devices"),
        backoff_s={node: backoff.seconds(node) or 0 for node in backoff.names()},
        waiting_s_ago=found.seconds("waiting_s_ago"),
        begin_in_s=found.seconds("begin_in_s"),
        dependency=found.word("dependency", "met", _DEPENDENCIES),
    )


def _devices(found: fields.Fields, key: str) -> dict[str, entries.Devices]:
    by_node = found.table(key)
    return {node: by_node.indices(node) for node in by_node.names()}


def of_case(top: fields.Fields) -> dict[str, Any]:
    """Return what the case says of its group: reservations, edges, the round's number, whether it starts anything."""
    return {
        "reservations": tuple(_reservation(each) for each in top.tables("reservations", "a reservation")),
        "edges": tuple(_edges(top)),
        "claims": tuple(_claim(each) for each in top.tables("claims", "a claim")),
        "round_number": top.count("round_number", 0),
        "is_starting": top.flag("starting", True),
        "tells_shadow": top.flag("tells_shadow"),
    }


def _reservation(found: fields.Fields) -> entries.ReservationEntry:
    kept = entries.ReservationEntry(
        session=found.text("for"),
        node=found.text("node"),
        slots=found.amounts("slots"),
        drawn=found.amounts("drawn"),
        waits_for=tuple(found.words("waits_for") or ()),
        deadline_s=found.seconds("deadline_s") or 0,
        is_wait=found.flag("wait"),
        is_binding=found.flag("binding"),
        devices=found.indices("devices"),
    )
    found.close()
    return kept


def _claim(found: fields.Fields) -> tuple[str, tuple[str, ...]]:
    claim = (found.text("for"), tuple(found.words("nodes") or ()))
    found.close()
    return claim


def _edges(top: fields.Fields) -> list[tuple[str, str]]:
    value = top.take("edges", located.Items())
    if not isinstance(value, located.Items) or not all(
        isinstance(each, list) and len(each) == 2 for each in value
    ):
        raise top.fault("edges", "must be a list of pairs [winner, loser]")
    return [(str(winner), str(loser)) for winner, loser in value]


def names_of(parts: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Return the sessions and the nodes that these parts of a case name."""
    kept = parts["reservations"]
    sessions = {one.session for one in kept} | {name for one in kept for name in one.waits_for}
    sessions |= {name for edge in parts["edges"] for name in edge} | {name for name, _ in parts["claims"]}
    all_sessions = (*parts["running"], *parts["pending"])
    nodes = {one.node for one in kept} | {n for one in all_sessions for n in one.standing.backoff_s}
    for one in all_sessions:
        nodes |= {*(one.standing.holds or ()), *one.standing.devices, *one.standing.holds_devices}
    nodes |= {node for _, claimed in parts["claims"] for node in claimed}
    return sessions, nodes
