"""Queues, and who may preempt whom."""

from __future__ import annotations

from typing import Any

from django import http

from scheduler import models
from scheduler.selectors import queue_rules
from tests.xceweb.common.samples import frame, overview
from xceweb.dashboard import matrix_form
from xceweb.dashboard.contexts import queue_matrix

VIEWER = models.User(username="vera", is_active=True)
ADMINISTRATOR = models.User(username="root", is_active=True, is_superuser=True)
_SENT = (
    "versions=urgent:2+batch:1+scavenge:1&was=urgent:batch&was_preemptible=batch+scavenge"
    "&takes=urgent:batch&takes=batch:urgent&preemptible=urgent&preemptible=batch&preemptible=scavenge"
    "&reason=Night+runs+matter+more"
)


def queue_list() -> dict[str, Any]:
    """All queues, as somebody sees them who may not change them."""
    return _page(VIEWER)


def changed() -> dict[str, Any]:
    """The matrix of an administrator whom somebody overtook, with a cycle among the ticked boxes."""
    collision = {
        "name": "urgent",
        "by": "bob",
        "at": frame.ago(minutes=2),
        "reason": "The paper is out",
        "theirs": "may stop normal",
        "mine": "can be preempted",
    }
    shown = _page(ADMINISTRATOR, matrix_form.read(http.QueryDict(_SENT)))
    return {**shown, "conflict": {"rows": [collision]}, "faults": ["at most 500 characters"]}


def rules() -> list[queue_rules.Rule]:
    """Who may preempt whom."""
    here = frozenset({1})
    return [
        queue_rules.Rule("batch", 1, True, frozenset(), here, "alice", None),
        queue_rules.Rule("normal", 1, False, frozenset({"batch"}), here, "alice", None),
        queue_rules.Rule("scavenge", 1, True, frozenset(), here, "alice", None),
        queue_rules.Rule("urgent", 3, False, frozenset({"batch", "normal", "scavenge"}), here, "bob", None),
    ]


def _page(viewer: models.User, sent: matrix_form.Sent | None = None) -> dict[str, Any]:
    matrix = queue_matrix.load(viewer, rules(), sent=sent)
    return {**frame.frame("queues", ("Queues", "")), "queues": overview.queues(), **matrix}
