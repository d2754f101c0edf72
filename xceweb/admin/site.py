"""
The site behind ``/admin/``: open to administrators, read only, under the one relaxed content policy.

Whoever is no administrator gets 404, as everywhere for what they may not see; nobody logs in, out or changes a
password here, the product's own pages do that. No address takes anything but a read: each write of the product goes
through its service, which audits it (P05).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from csp import decorators as policy
from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django import http, urls
from django.views.decorators import cache
from django.views.decorators import http as methods
from unfold import sites

from scheduler import errors
from scheduler.selectors import permissions

View = Callable[..., http.HttpResponse]
#: What the theme's scripts and styles need, measured (ECOSYSTEM B.5); nothing else is relaxed, and only here.
RELAXATIONS = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}


class Console(sites.UnfoldAdminSite):
    """Every registered listing, and the dashboard."""

    index_title = "Dashboard"
    enable_nav_sidebar = True

    def has_permission(self, request: http.HttpRequest) -> bool:
        """Say whether the reader is an administrator."""
        return permissions.is_administrator(request.user)

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Return a view for administrators: anybody else finds nothing (404)."""
        relaxed = policy.csp_update(RELAXATIONS)(view)

        @functools.wraps(view)
        def guarded(request: http.HttpRequest, *args: Any, **kwargs: Any) -> http.HttpResponse:
            if not self.has_permission(request):
                raise errors.NotVisible()
            return relaxed(request, *args, **kwargs)

        found: View = methods.require_safe(guarded)
        return found if cacheable else cache.never_cache(found)

    def get_urls(self) -> list[Any]:
        """Return the addresses: Django's without log-in, password, and whatever else writes."""
        return [
            urls.path("", self.admin_view(self.index), name="index"),
            urls.path("search/", self.admin_view(self.search), name="search"),
            urls.path("jsi18n/", self.admin_view(self.i18n_javascript, cacheable=True), name="jsi18n"),
            *(
                urls.path(f"{model._meta.app_label}/{model._meta.model_name}/", urls.include(listing.urls))
                for model, listing in self._registry.items()
            ),
            urls.path("<slug:app_label>/", self.admin_view(self.app_index), name="app_list"),
        ]


console = Console()
