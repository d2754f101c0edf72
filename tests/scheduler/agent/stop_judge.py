"""What a schedule of stops must not have done: the judge of what its agents did and said (P02)."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from scheduler.protocol import fields, messages

#: What is counted of each schedule and must be nothing: orders carried out twice, or not at all; stops without an order
#: for that epoch; orders without an answer; acts before the journal knew of the order; warnings given twice, and ends
#: without the warning that their grace promises.
FAULTS = ("doubled", "missed", "foreign", "unanswered", "unwritten", "warned twice", "not warned")


def count(
    acts: list[dict[str, Any]], orders: Iterable[messages.StopCommand], withdrawn: set[str]
) -> dict[str, int]:
    """
    Count stops and faults. A stop by kill is its kill: it holds the session before that for as long as it warns it.

    Args:
        acts: what the driver did, in order.
        orders: all stops that were ordered.
        withdrawn: command ids of those that were taken back.
    """
    orders = list(orders)
    kills = {order.command_id for order in orders if order.action == fields.StopAction.KILL}
    changes = [act for act in acts if act["now"] in ("T", "X")]
    finals = [act for act in changes if act["now"] == "X" or act["order"] not in kills]
    stops = collections.Counter(act["order"] for act in finals)
    warnings = _warnings(acts)
    done = {order.command_id for order in orders if stops[order.command_id] == 1} | withdrawn
    asked = {(order.command_id, order.epoch) for order in orders}
    graceful = {order.command_id for order in orders if order.command_id in kills and order.grace_ms}
    ended = {act["order"] for act in changes if act["now"] == "X"}
    return {
        "stops": len(finals),
        "doubled": sum(most > 1 for most in stops.values()),
        "missed": sum(order.command_id not in done for order in orders),
        "foreign": sum((act["order"], act["epoch"]) not in asked for act in changes),
        "unwritten": sum(not act["known"] for act in acts),
        "warned twice": sum(most > 1 for most in warnings.values()),
        "not warned": len((graceful & ended) - set(warnings)),
    }


def _warnings(acts: list[dict[str, Any]]) -> collections.Counter[str]:
    """Count how often each order's warning reached the session: what waits while it is held is one, however often."""
    reached: collections.Counter[str] = collections.Counter()
    waiting: set[str] = set()
    is_held = False
    for act in acts:
        is_held = (is_held or act["now"] == "T") and act["now"] != "S"
        if act["what"] == "warn":
            waiting.add(act["order"])
        if not is_held:
            reached.update(waiting)
            waiting = set()
    reached.update(waiting)
    return reached
