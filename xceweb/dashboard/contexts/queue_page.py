"""One queue: its rules in words, who may stop whom, who waits in it, and the form of administrators."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.core.preemption import shipped
from scheduler.plugins import catalog
from scheduler.selectors import permissions, queue_rules, queues, rule_warnings, slot_kinds
from xceweb.common import wording
from xceweb.dashboard import queue_form
from xceweb.dashboard.contexts import queue_matrix, words

#: Places of the line that the page shows.
FIRST = 10


def load(
    viewer: models.User, queue: models.Queue, form: queue_form.QueueForm | None = None
) -> dict[str, Any]:
    """Return the context of ``dashboard/queue_detail.html``; ``form`` for who may change the queue."""
    row = next(one for one in queues.rows(viewer) if one.name == queue.slug)
    rules = queue_rules.of(viewer)
    return {
        "queue": row,
        "rules": _rules(viewer, queue, row),
        "relations": _relations(rules, queue.slug),
        "cautions": [
            rule_warnings.of_cycle(cycle) for cycle in queue_rules.cycles(rules) if queue.slug in cycle
        ],
        "line": _line(viewer, queue),
        "more": max(0, row.pending - FIRST),
        "form": form,
        "policies": catalog.offers() if form else [],
        "actions": [_removal(queue)] if form else [],
        "conflict": None,
    }


def _rules(viewer: models.User, queue: models.Queue, row: queues.Row) -> list[tuple[str, str]]:
    limit = "no limit" if row.max_sessions is None else str(row.max_sessions)
    default = "what the owner's policy says" if row.default_priority is None else str(row.default_priority)
    return [
        ("Priority", f"{default}, at most {row.max_priority}"),
        ("May submit", _submitters(viewer, queue)),
        ("Sessions at the same time", limit),
        ("Slots at the same time", _limits(row)),
        ("Its sessions as victims", _as_victims(row)),
        ("Chooses victims by", _chooses(row)),
    ]


def _submitters(viewer: models.User, queue: models.Queue) -> str:
    named = queues.submitters(viewer).get(queue.slug)
    if named is None:
        is_named = queue.submit_users.exists() or queue.submit_teams.exists()
        return "only some people" if is_named else "every submitter of its groups"
    found = [*named.users, *(f"team {team}" for team in named.teams)]
    return queue_matrix.listed(found) if found else "every submitter of its groups"


def _limits(row: queues.Row) -> str:
    if not row.max_slots:
        return "no limit"
    limits = slot_kinds.amounts(row.max_slots, slot_kinds.load())
    return ", ".join(wording.quantity(amount, kind) for kind, amount in limits.items())


def _as_victims(row: queues.Row) -> str:
    if not row.is_preemptible:
        return "are never stopped for other queues"
    return (
        f"can be stopped: {row.preemption_mode}"
        if row.preemption_mode
        else "can be stopped, as the group says"
    )


def _chooses(row: queues.Row) -> str:
    description = shipped.DESCRIPTIONS.get(row.policy_name) or next(
        (one.description for one in catalog.offers() if one.name == row.policy_name), ""
    )
    return f"{row.policy_name}. {description}" if description else row.policy_name


def _relations(rules: list[queue_rules.Rule], name: str) -> list[dict[str, Any]]:
    """Return both directions of who may stop whom: each with its names, and those that are listed without effect."""
    effect, listed = queue_rules.in_effect(rules), {rule.name: rule.takes for rule in rules}
    takes = effect[name]
    by = sorted(taker for taker, givers in effect.items() if name in givers)
    in_vain = sorted(taker for taker, givers in listed.items() if name in givers and taker not in by)
    return [
        {
            "label": "It may stop sessions of",
            "names": takes,
            "idle": queue_matrix.listed(sorted(listed[name] - set(takes))),
        },
        {"label": "Its sessions may be stopped by", "names": by, "idle": queue_matrix.listed(in_vain)},
    ]


def _line(viewer: models.User, queue: models.Queue) -> list[dict[str, Any]]:
    roles = permissions.roles_of(viewer)
    known = slot_kinds.load()
    return [
        _place(place, session, (permissions.sight(viewer, session, roles=roles), known))
        for place, session in enumerate(queues.line(viewer, queue)[:FIRST], 1)
    ]


def _place(
    place: int,
    session: models.Session,
    seen: tuple[permissions.Sight, dict[str, slot_kinds.Kind]],
) -> dict[str, Any]:
    sight, known = seen
    is_read = sight >= permissions.Sight.OPERATIONS
    return {
        "place": place,
        "label": session.name if is_read else "Another session",
        "url": urls.reverse("dashboard:session-detail", args=[session.public_id]) if is_read else "",
        "state": session.state,
        "group": session.group.slug,
        "priority": session.priority if is_read else words.NOTHING,
        "slots": slot_kinds.amounts(session.slots, known),
        "since": session.submitted_at,
    }


def _removal(queue: models.Queue) -> dict[str, Any]:
    text = (
        "Only a queue that never had a session can be removed. It leaves the lists of all queues that may stop its"
        " sessions."
    )
    reason = {"name": "reason", "label": "Reason", "type": "text", "value": "", "required": True}
    version = {"name": "version", "type": "hidden", "value": queue.version}
    return {
        "key": "remove",
        "label": "Remove",
        "url": urls.reverse("dashboard:queue-remove", args=[queue.slug]),
        "title": f"Remove {queue.slug}?",
        "text": text,
        "button": f"Remove {queue.slug}",
        "tone": "danger",
        "fields": [version, reason],
    }
