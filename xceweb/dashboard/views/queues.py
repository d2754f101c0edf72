"""Queues: the list with the matrix of who may preempt whom, and one queue."""

from __future__ import annotations

from typing import Any

from django import http, shortcuts, urls
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors, models
from scheduler.selectors import permissions, queue_rules
from scheduler.services import actors
from scheduler.services import queues as service
from xceweb.common import pages
from xceweb.dashboard import matrix_form, queue_form
from xceweb.dashboard.contexts import queue_matrix, queue_page, queue_rows


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


@methods.require_http_methods(["GET", "HEAD", "POST"])
@pages.page
def queue_detail(request: http.HttpRequest, slug: str) -> http.HttpResponse:
    """Show one queue; an administrator's POST changes its rules, if nobody was faster."""
    queue = _require(request, slug)
    is_administrator = permissions.is_administrator(request.user)
    if request.method != "POST":
        form = queue_form.QueueForm(queue) if is_administrator else None
        return _detail(request, queue, queue_page.load(request.user, queue, form))
    permissions.require_administrator(request.user, f"change queue {slug}")
    form = queue_form.QueueForm(queue, request.POST)
    if not form.is_valid():
        return _detail(request, queue, queue_page.load(request.user, queue, form), status=422)
    return _put(request, queue, form)


def _put(request: http.HttpRequest, queue: models.Queue, form: queue_form.QueueForm) -> http.HttpResponse:
    values = form.cleaned_data
    try:
        row = service.change_queue(
            actor(request),
            queue,
            changes=form.changes(),
            reason=values["reason"],
            expected_version=values["version"],
        )
    except errors.Conflict as conflict:
        newer = conflict.facts["current"]
        form, rows = queue_form.rebased(newer, form)
        shown = queue_page.load(request.user, newer, form)
        return _detail(request, newer, {**shown, "conflict": _overtaken(newer, rows)}, status=409)
    except errors.Refusal as refusal:
        if refusal.status == 404:
            raise
        form.add_refusal(refusal)
        return _detail(request, queue, queue_page.load(request.user, queue, form), status=422)
    messages.success(request, f"In force from the next round on: version {row.version} of {row.slug}.")
    return shortcuts.redirect("dashboard:queue-detail", row.slug)


def _overtaken(queue: models.Queue, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "by": queue.changed_by_name,
        "at": queue.changed_at,
        "reason": queue_rules.last_reason(queue.slug),
        "version": queue.version,
        "rows": rows,
    }


@methods.require_POST
def queue_remove(request: http.HttpRequest, slug: str) -> http.HttpResponse:
    """Remove a queue that has no sessions, and go back to the list."""
    queue = _require(request, slug)
    permissions.require_administrator(request.user, f"remove queue {slug}")
    version = request.POST.get("version", "")
    try:
        service.remove_queue(
            actor(request),
            queue,
            reason=request.POST.get("reason", ""),
            expected_version=int(version) if version.isdecimal() and len(version) < 10 else 0,
        )
    except errors.Refusal as refusal:
        messages.error(request, f"{slug} is not removed: {refusal}")
        return shortcuts.redirect("dashboard:queue-detail", slug)
    messages.success(request, f"{slug} is removed.")
    return shortcuts.redirect("dashboard:queue-list")


def _require(request: http.HttpRequest, slug: str) -> models.Queue:
    row = permissions.visible_queues(request.user).filter(slug=slug).first()
    if row is None:
        raise errors.NotVisible("There is no such queue, or you may not see it.")
    return row


def _detail(
    request: http.HttpRequest, queue: models.Queue, values: dict[str, Any], *, status: int = 200
) -> http.HttpResponse:
    crumbs = [("Queues", urls.reverse("dashboard:queue-list")), (queue.slug, "")]
    response = pages.render(request, "dashboard/queue_detail.html", values, section="queues", crumbs=crumbs)
    return pages.with_status(response, status)
