"""All addresses, by family."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("xceweb.common.urls")),
    path("", include("xceweb.live.urls")),
    path("", include("xceweb.console.urls")),
    path("", include("xceweb.dashboard.urls")),
    path("admin/", include("xceweb.admin.urls")),
    path("help/", include("xceweb.common.help_urls")),
    path("accounts/", include("xceweb.accounts.urls")),
    path("api/v1/", include("xceweb.api.v1.urls")),
    path("api/", include("xceweb.api.urls")),
]
handler403 = "xceweb.common.views.forbidden"
handler404 = "xceweb.common.views.not_found"
