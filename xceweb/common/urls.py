"""Addresses of health, the sidebar and the theme."""

from __future__ import annotations

from django.urls import path

from xceweb.common import health, theme, views

app_name = "common"
urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("readyz/<slug:name>", health.readyz_check, name="readyz-check"),
    path("version", health.version, name="version"),
    path("navigation/", views.navigation_part, name="navigation"),
    path("theme/", theme.set_theme, name="theme"),
]
