"""Addresses of health and theme."""

from __future__ import annotations

from django.urls import path

from xceweb.common import theme, views

app_name = "common"
urlpatterns = [
    path("livez", views.livez, name="livez"),
    path("readyz", views.readyz, name="readyz"),
    path("theme/", theme.set_theme, name="theme"),
]
