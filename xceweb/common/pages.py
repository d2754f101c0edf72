"""
How a view becomes a page or a fragment.

``page`` notes the number of the newest event **before** the view reads anything: the browser goes on from
there, so that nothing which happens while the page is made gets lost. ``render`` adds what the frame of every
page needs, and renders one part alone when htmx asks for it (``?part=name``) through the same view and the
same permission checks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import http, shortcuts
from django.utils.cache import patch_vary_headers

from scheduler.selectors import announcements, event_log, navigation, permissions

View = Callable[..., http.HttpResponse]
Crumb = tuple[str, str]


def page(view: View) -> View:
    """
    Note the newest event number in ``request.live_number`` and read the viewer's roles once, then run the view.

    Answers are never cached.
    """

    @functools.wraps(view)
    def wrapped(request: http.HttpRequest, *args: Any, **kwargs: Any) -> http.HttpResponse:
        request.live_number = event_log.last_number()
        request.user.known_roles = permissions.roles_of(request.user)
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        patch_vary_headers(response, ["Cookie", "HX-Request"])
        return response

    return wrapped


def part_of(request: http.HttpRequest, parts: Sequence[str]) -> str:
    """
    Return the fragment that is asked for, empty for the whole page.

    Raises:
        Http404: the page has no such part.
    """
    part = request.GET.get("part", "")
    if part and part not in parts:
        raise http.Http404("no such part")
    return part


def render(
    request: http.HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    section: str = "",
    crumbs: Sequence[Crumb] = (),
) -> http.HttpResponse:
    """
    Render a page with its frame, or one part of it.

    Args:
        template: ``family/page.html``; its part ``rows`` is ``family/_rows.html``.
        section: which entry of the navigation is current.
        crumbs: label and address of each step, the last without an address.
    """
    part = request.GET.get("part", "")
    if part:
        family = template.rpartition("/")[0]
        return shortcuts.render(request, f"{family}/_{part}.html", dict(context))
    frame = {
        "nav": navigation.load(request.user),
        "section": section,
        "announcements": list(announcements.in_force()),
        "live_number": getattr(request, "live_number", None),
        "crumbs": [{"label": label, "url": url} for label, url in crumbs],
    }
    return shortcuts.render(request, template, {**frame, **context})


def with_status(response: http.HttpResponse, status: int) -> http.HttpResponse:
    """Return a rendered page under another status: 422 for a form with faults, 409 for a conflict."""
    response.status_code = status
    return response
