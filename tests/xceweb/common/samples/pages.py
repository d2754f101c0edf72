"""Every page template with a context for each of its faces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tests.xceweb.common.samples import accounts, console, decisions, frame, overview, queues, sessions, why
from xceweb.common import design

#: name -> (template, context)
PAGES: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "overview": ("dashboard/overview.html", overview.overview),
    "overview-empty": ("dashboard/overview.html", overview.empty_overview),
    "first-steps": ("dashboard/first_steps.html", console.first_steps),
    "sessions": ("dashboard/session_list.html", sessions.session_list),
    "sessions-columns": ("dashboard/session_list.html", sessions.every_column),
    "sessions-empty": ("dashboard/session_list.html", sessions.empty_list),
    "sessions-bulk": ("dashboard/session_bulk.html", functools.partial(sessions.bulk, is_asked=True)),
    "sessions-bulk-done": ("dashboard/session_bulk.html", functools.partial(sessions.bulk, is_asked=False)),
    "submit": ("dashboard/session_submit.html", sessions.submit),
    "why-preempted": ("dashboard/session_detail.html", why.preempted),
    "why-warned": ("dashboard/session_detail.html", why.warned),
    "why-pending": ("dashboard/session_detail.html", why.pending),
    "why-running": ("dashboard/session_detail.html", why.running),
    "why-failed": ("dashboard/session_detail.html", why.failed),
    "session-timeline": ("dashboard/session_detail.html", sessions.timeline),
    "session-output": ("dashboard/session_detail.html", sessions.output),
    "session-runs": ("dashboard/session_detail.html", sessions.all_runs),
    "session-facts": ("dashboard/session_detail.html", sessions.facts),
    "group": ("dashboard/group_detail.html", overview.group),
    "policy": ("console/group_policy.html", console.policy),
    "policy-conflict": ("console/group_policy.html", console.conflict),
    "policy-viewer": ("console/group_policy.html", console.seen_by_viewer),
    "roles": ("console/group_roles.html", console.roles),
    "queues": ("dashboard/queue_list.html", queues.queue_list),
    "queues-changed": ("dashboard/queue_list.html", queues.changed),
    "queue": ("dashboard/queue_detail.html", queues.one),
    "queue-form": ("dashboard/queue_detail.html", queues.administered),
    "nodes": ("dashboard/node_list.html", overview.node_list),
    "node": ("dashboard/node_detail.html", overview.node),
    "announcements": ("console/announcements.html", console.announcements),
    "node-keys": ("console/node_keys.html", console.node_keys),
    "decisions": ("dashboard/decision_list.html", decisions.decision_list),
    "decision": ("dashboard/decision_detail.html", decisions.decision),
    "reasons": ("help/reasons.html", console.reasons),
    "reason": ("help/reason.html", console.reason),
    "design": ("help/design.html", lambda: {**frame.frame("help", ("Design", "")), **design.context()}),
    "keypairs": ("accounts/keypairs.html", accounts.keypairs),
    "keypairs-viewer": ("accounts/keypairs.html", accounts.seen_by_viewer),
    "login": ("accounts/login.html", console.login),
    "not-found": ("404.html", console.refused),
    "not-allowed": ("403.html", console.refused),
    "broken": ("500.html", dict),
}
