"""What a schedule of stops must not have done: the judge of what its agents did and said (P02)."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from scheduler.protocol import messages

#: What is counted of each schedule and must be nothing: orders carried out twice, or not at all; stops without an order
#: for that epoch; orders without an answer; acts before the journal knew of the order; warnings given twice.
FAULTS = ("doubled", "missed", "foreign", "unanswered", "unwritten", "warned twice")


def count(
    acts: list[dict[str, Any]], orders: Iterable[messages.StopCommand], withdrawn: set[str]
) -> dict[str, int]:
    """
    Count stops and faults.

    Args:
        acts: what the driver did, in order.
        orders: all stops that were ordered.
        withdrawn: command ids of those that were taken back.
    """
    orders = list(orders)
    changes = [act for act in acts if act["now"] in ("T", "X")]
    stops = collections.Counter(act["order"] for act in changes)
    warnings = collections.Counter(act["order"] for act in acts if act["what"] == "warn")
    done = {order.command_id for order in orders if stops[order.command_id] == 1} | withdrawn
    asked = {(order.command_id, order.epoch) for order in orders}
    return {
        "stops": len(changes),
        "doubled": sum(most > 1 for most in stops.values()),
        "missed": sum(order.command_id not in done for order in orders),
        "foreign": sum((act["order"], act["epoch"]) not in asked for act in changes),
        "unwritten": sum(not act["known"] for act in acts),
        "warned twice": sum(most > 1 for most in warnings.values()),
    }
