"""Queues: the list with the matrix of who may preempt whom."""

from __future__ import annotations

from typing import Any

from django import http, shortcuts
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors, models
from scheduler.selectors import permissions, queue_rules
from scheduler.services import actors
from scheduler.services import queues as service
from xceweb.common import pages
from xceweb.dashboard import matrix_form
from xceweb.dashboard.contexts import queue_matrix, queue_rows


@methods.require_http_methods(["GET", "HEAD", "POST"])
@pages.page
def queue_list(request: http.HttpRequest) -> http.HttpResponse:
    """Show the queues and who may preempt whom; an administrator's POST changes that, if nobody was faster."""
    part = pages.part_of(request, ("queue_card", "queue_graph"))
    if part == "queue_card":
        return pages.render(request, "dashboard/queue_list.html", {"queues": queue_rows.load(request.user)})
    rules = queue_rules.of(request.user)
    if request.method != "POST":
        return _list(request, queue_matrix.load(request.user, rules))
    permissions.require_administrator(request.user, "change queues")
    sent = matrix_form.read(request.POST)
    if part or request.POST.get("act") == "check":
        return _list(request, queue_matrix.load(request.user, rules, sent=sent))
    return _change(request, sent)


def _change(request: http.HttpRequest, sent: matrix_form.Sent) -> http.HttpResponse:
    try:
        changed = service.change_queues(actor(request), _wishes(sent), reason=sent.reason)
    except (errors.Conflict, errors.NotVisible):
        rules = queue_rules.of(request.user)
        shown = queue_matrix.load(request.user, rules, sent=sent)
        return _list(request, {**shown, "conflict": queue_matrix.conflict(rules, sent)}, status=409)
    except errors.Refusal as refusal:
        shown = queue_matrix.load(request.user, queue_rules.of(request.user), sent=sent)
        faults = list(refusal.fields.values()) or [str(refusal)]
        return _list(request, {**shown, "faults": faults}, status=422)
    names = queue_matrix.listed([queue.slug for queue in changed])
    messages.success(request, f"In force from the next round on: new rules of {names}.")
    return shortcuts.redirect("dashboard:queue-list")


def _wishes(sent: matrix_form.Sent) -> list[service.Wish]:
    changes = sent.changes()
    rows = {row.slug: row for row in models.Queue.objects.filter(slug__in=changes)}
    gone = sorted(set(changes) - set(rows))
    if gone:
        raise errors.NotVisible(f"There is no queue {', '.join(gone)} any more.")
    return [service.Wish(rows[name], wanted, sent.versions[name]) for name, wanted in changes.items()]


def _list(request: http.HttpRequest, matrix: dict[str, Any], *, status: int = 200) -> http.HttpResponse:
    queues = [] if request.GET.get("part") else queue_rows.load(request.user)
    context = {"queues": queues, **matrix}
    response = pages.render(request, "dashboard/queue_list.html", context, section="queues")
    return pages.with_status(response, status)


def actor(request: http.HttpRequest) -> actors.Actor:
    """Return who acts by this request."""
    return actors.of_user(request.user, request_id=request.request_id)
