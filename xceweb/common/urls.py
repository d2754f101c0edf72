"""Addresses of health, the sidebar and the theme."""

from __future__ import annotations

from django.urls import path

from xceweb.common import theme, views

app_name = "common"
urlpatterns = [
    path("livez", views.livez, name="livez"),
    path("readyz", views.readyz, name="readyz"),
    path("navigation/", views.navigation_part, name="navigation"),
    path("theme/", theme.set_theme, name="theme"),
]
