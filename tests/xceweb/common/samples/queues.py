"""Queues, and who may preempt whom."""

from __future__ import annotations

from typing import Any

from django import forms, http

from scheduler import models
from scheduler.plugins import catalog
from scheduler.selectors import queue_rules, rule_warnings
from tests.xceweb.common.samples import frame, overview
from xceweb.dashboard import matrix_form, queue_form
from xceweb.dashboard.contexts import queue_matrix, words

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


class Form(queue_form.QueueForm):
    """The form of a queue, without a database."""

    def __init__(self) -> None:
        """Fill it."""
        forms.Form.__init__(
            self,
            initial={
                "version": 3,
                "description": "For deadlines",
                "state": "open",
                "max_priority": 90,
                "max_slots": "cuda.device=8",
                "preemptible_queues": ["batch"],
                "preempt_policy": "fair_first",
            },
        )
        self.fields["preemptible_queues"].choices = [(name, name) for name in ("batch", "normal", "scavenge")]
        self.fields["preempt_policy"].choices = [("fair_first", "fair_first: cannot be used, stops nobody")]


def one() -> dict[str, Any]:
    """One queue, as somebody sees it who may not change it."""
    queue = {**overview.queues()[0], "groups": ["a100", "l4"], "version": 3, "changed_by": "bob"}
    queue |= {"changed_at": frame.ago(days=2), "policy_error": ""}
    place = {
        "state": "pending",
        "group": "a100",
        "slots": frame.slots(4, 32, 256),
        "since": frame.ago(minutes=40),
    }
    return {
        **frame.frame("queues", ("Queues", "/queues/"), ("urgent", "")),
        "queue": queue,
        "rules": [("Priority", "30, at most 90"), ("May submit", "only some people")],
        "relations": [
            {"label": "It may stop sessions of", "names": ["batch", "scavenge"], "idle": "normal"},
            {"label": "Its sessions may be stopped by", "names": [], "idle": ""},
        ],
        "cautions": [],
        "line": [
            {**place, "place": 1, "label": "train-bert-2", "url": "/sessions/x/", "priority": 50},
            {**place, "place": 2, "label": "Another session", "url": "", "priority": words.NOTHING},
        ],
        "more": 3,
        "form": None,
        "policies": [],
        "actions": [],
        "conflict": None,
    }


def administered() -> dict[str, Any]:
    """The same for an administrator who was overtaken: its policy is gone, and queues may stop each other."""
    shown = one()
    shown["queue"] |= {"policy_error": "fair_first is not installed: this queue preempts nobody"}
    row = {"label": "Highest priority", "before": "100", "theirs": "90", "mine": "40", "is_conflict": True}
    conflict = {"by": "bob", "at": frame.ago(minutes=2), "reason": "Calm down", "version": 3, "rows": [row]}
    return {
        **shown,
        "cautions": [rule_warnings.of_cycle(("batch", "urgent")), rule_warnings.of_cycle(("a", "b", "c"))],
        "line": [],
        "more": 0,
        "form": Form(),
        "policies": catalog.offers(),
        "conflict": conflict,
    }


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
