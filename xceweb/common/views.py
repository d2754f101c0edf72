"""Error pages, the sidebar and help: the views that belong to no family."""

from __future__ import annotations

from django import http, shortcuts, urls
from django.views.decorators import http as methods

from scheduler import errors
from scheduler.selectors import navigation
from xceweb.common import design, pages, reasons, refusals


def csrf_failure(request: http.HttpRequest, reason: str = "") -> http.HttpResponse:
    """Say that the form was too old to be accepted, and how to go on."""
    detail = "The form was too old or came from another site. Go back, reload the page and send it again."
    if refusals.wants_json(request):
        return refusals.problem(request, errors.NotAllowed(detail, code="csrf-failed"))
    if refusals.is_fragment(request):
        return refusals.reload_page(403)
    return shortcuts.render(request, "403.html", {"detail": detail}, status=403)


def forbidden(request: http.HttpRequest, exception: Exception) -> http.HttpResponse:
    """Show the page for what is seen, but not allowed."""
    if refusals.wants_json(request):
        return refusals.problem(request, errors.NotAllowed())
    return shortcuts.render(request, "403.html", {}, status=403)


def not_found(request: http.HttpRequest, exception: Exception) -> http.HttpResponse:
    """Show the page for what is not there, or not for this reader: the two look alike."""
    if refusals.wants_json(request):
        return refusals.problem(request, errors.NotVisible())
    return shortcuts.render(request, "404.html", {}, status=404)


@methods.require_safe
@pages.page
def navigation_part(request: http.HttpRequest) -> http.HttpResponse:
    """Show the counts and switches of the sidebar alone, as they are now."""
    context = {"nav": navigation.load(request.user), "section": request.GET.get("section", "")}
    return shortcuts.render(request, "common/_navigation.html", context)


@methods.require_safe
@pages.page
def help_reasons(request: http.HttpRequest) -> http.HttpResponse:
    """Explain every reason."""
    return pages.render(request, "help/reasons.html", {"parts": reasons.parts()}, section="help")


@methods.require_safe
@pages.page
def help_reason(request: http.HttpRequest, code: str) -> http.HttpResponse:
    """Explain one reason: what it means, and who can do what about it."""
    found = reasons.find(code)
    if found is None:
        raise http.Http404("no such reason")
    part, reason = found
    context = {"part": part, "reason": reason}
    crumbs = [("Reasons explained", urls.reverse("help:reasons")), (reason.label, "")]
    return pages.render(request, "help/reason.html", context, section="help", crumbs=crumbs)


@methods.require_safe
@pages.page
def help_design(request: http.HttpRequest) -> http.HttpResponse:
    """Show every component once."""
    return pages.render(request, "help/design.html", design.context(), section="help")
