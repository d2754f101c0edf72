"""Who may preempt whom: a matrix to tick, a picture, the same in words, and the cycles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler import models
from scheduler.selectors import permissions, queue_rules, rule_warnings
from xceweb.dashboard import matrix_form
from xceweb.dashboard.contexts import queue_picture


def load(
    viewer: models.User, rules: Sequence[queue_rules.Rule], *, sent: matrix_form.Sent | None = None
) -> dict[str, Any]:
    """
    Return what ``_queue_matrix.html`` and ``_queue_graph.html`` show.

    Args:
        rules: those in force that the viewer sees.
        sent: a form whose changes are shown on top of them.
    """
    in_force = matrix_form.boxes(rules)
    ticked = sent.on(rules) if sent else in_force
    return {
        "can_change": permissions.is_administrator(viewer),
        "matrix": _matrix(rules, in_force, ticked),
        "sent_reason": sent.reason if sent else "",
        "faults": [],
        "conflict": None,
        "graph": graph(matrix_form.drafted(rules, ticked), is_draft=ticked != in_force),
    }


def _matrix(
    rules: Sequence[queue_rules.Rule], in_force: matrix_form.Boxes, ticked: matrix_form.Boxes
) -> dict[str, Any]:
    names = [rule.name for rule in rules]
    groups = {rule.name: rule.groups for rule in rules}
    return {
        **matrix_form.written(rules),
        "columns": [
            {
                "name": name,
                "is_on": name in ticked.preemptible,
                "is_changed": (name in ticked.preemptible) != (name in in_force.preemptible),
            }
            for name in names
        ],
        "rows": [
            {
                "name": name,
                "cells": [_cell((name, other), (in_force, ticked), groups) for other in names],
            }
            for name in names
        ],
    }


def _cell(
    step: matrix_form.Step,
    both: tuple[matrix_form.Boxes, matrix_form.Boxes],
    groups: dict[str, frozenset[int]],
) -> dict[str, Any]:
    in_force, ticked = both
    taker, giver = step
    is_on = step in ticked.takes
    return {
        "taker": taker,
        "giver": giver,
        "value": f"{taker}:{giver}",
        "is_self": taker == giver,
        "is_on": is_on,
        "is_changed": is_on != (step in in_force.takes),
        "idle": _idle(is_on, giver in ticked.preemptible, bool(groups[taker] & groups[giver])),
    }


def _idle(is_on: bool, is_preemptible: bool, share: bool) -> str:
    """Say why a box that is ticked has no effect; empty when it has."""
    if not is_on or (is_preemptible and share):
        return ""
    return "no common group" if not share else "cannot be preempted"


def graph(rules: Sequence[queue_rules.Rule], *, is_draft: bool = False) -> dict[str, Any]:
    """Return the picture of rules, the same in words, and what is dangerous about them."""
    effect = queue_rules.in_effect(rules)
    return {
        "is_draft": is_draft,
        "picture": queue_picture.draw(rules),
        "cautions": [rule_warnings.of_cycle(cycle) for cycle in queue_rules.cycles(rules)[:MOST_CYCLES]],
        "words": [
            {
                "name": rule.name,
                "takes": listed(effect[rule.name]),
                "idle": listed(sorted(rule.takes - set(effect[rule.name]))),
            }
            for rule in rules
            if rule.takes
        ],
        "others": listed([rule.name for rule in rules if not rule.takes]),
    }


#: Cycles that are named at most.
MOST_CYCLES = 8


def listed(names: Sequence[str]) -> str:
    """Write names as a sentence has them: a, b and c."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def conflict(rules: Sequence[queue_rules.Rule], sent: matrix_form.Sent) -> dict[str, Any]:
    """Return, for each queue that both changed, what others changed since the form was made and what it wanted."""
    mine, known = sent.changes(), {rule.name: rule for rule in rules}
    rows = []
    for name in mine:
        rule = known.get(name)
        if rule is None:
            rows.append(
                {"name": name, "by": "", "at": None, "theirs": "it was removed", "mine": "", "reason": ""}
            )
        elif rule.version != sent.versions[name]:
            rows.append(_collision(rule, sent, mine[name]))
    return {"rows": rows}


def _collision(rule: queue_rules.Rule, sent: matrix_form.Sent, wanted: dict[str, Any]) -> dict[str, Any]:
    was = (rule.name in sent.before.preemptible, set(matrix_form.givers(sent.before, rule.name)))
    now = (rule.is_preemptible, set(rule.takes))
    mine = (wanted.get("preemptible", was[0]), set(wanted.get("preemptible_queues", was[1])))
    return {
        "name": rule.name,
        "by": rule.changed_by,
        "at": rule.changed_at,
        "reason": queue_rules.last_reason(rule.name),
        "theirs": _difference(was, now) or "other rules of it",
        "mine": _difference(was, mine),
    }


def _difference(before: tuple[bool, set[str]], after: tuple[bool, set[str]]) -> str:
    """Say what differs between two states of a queue: (can be preempted, from whom it may preempt)."""
    told = []
    if before[0] != after[0]:
        told.append("can be preempted" if after[0] else "can no longer be preempted")
    if added := sorted(after[1] - before[1]):
        told.append(f"may stop {listed(added)}")
    if gone := sorted(before[1] - after[1]):
        told.append(f"may no longer stop {listed(gone)}")
    return "; ".join(told)
