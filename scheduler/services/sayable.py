"""
Whether a start can be said to an agent: what a request may hold is what an order may carry (DESIGN 6).

Checked at submit, before anything is written. An order that cannot be said all the same, as where nodes were given
longer names since, holds its session alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scheduler import models
from scheduler.protocol import codec, errors, messages, signing
from scheduler.services import faults

#: Most bytes of an order's body; the rest of the envelope takes less than what is left.
BODY_LIMIT = signing.SIZE_LIMIT - 1024
_NAME = "x" * 50
_ID = "00000000-0000-7000-8000-000000000000"
_LARGEST = 2**63 - 1


def encode(message: messages.Command) -> dict[str, Any]:
    """
    Return a command's body as the outbox keeps it.

    Raises:
        ProtocolError: it breaks the protocol's bounds, or is too large for an envelope.
    """
    body = codec.encode(message)
    size = len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())
    if size > BODY_LIMIT:
        raise errors.ProtocolError("too-large", f"the order has {size} bytes of at most {BODY_LIMIT}")
    return body


def check(columns: Mapping[str, Any], *, group: models.ResourceGroup, found: faults.Faults) -> None:
    """
    Find what cannot be ordered of a session although each value is right by itself.

    Args:
        columns: of the session, each within its own bounds.
        group: whose nodes are named in the order.
    """
    try:
        encode(_largest_start(columns, group))
    except errors.ProtocolError as error:
        if error.code != "too-large":
            found.add("", f"cannot be ordered from an agent: {error.detail}")
            return
        found.add(
            "command",
            "together with environment and node names it is too large for an order to an agent "
            f"({error.detail}); put it into a file that the nodes can read, and start that",
        )


def _largest_start(columns: Mapping[str, Any], group: models.ResourceGroup) -> messages.StartCommand:
    """Return the largest start that a session with these columns may need."""
    count = columns["node_count"]
    rows = models.Node.objects.filter(group=group).values_list("name", flat=True)
    names = sorted(rows, key=lambda name: len(name.encode()), reverse=True)[:count] if count > 1 else [_NAME]
    return messages.StartCommand(
        command_id=_ID,
        session=_ID,
        epoch=2**31 - 1,
        attempt=2**31 - 1,
        argv=tuple(columns["argv"]),
        script=columns["script"],
        env=columns["environment"] | {"XCE_PORT": "65535"},
        workdir=columns["workdir"],
        slots=dict.fromkeys(columns["slots"], _LARGEST),
        nodes=tuple(names),
        wall_limit_s=columns["wall_limit"],
        warn_signal=columns["warning_signal"] or 15,
        owner="x" * 150,
    )
