"""Addresses of the help pages."""

from __future__ import annotations

from django.urls import path

from xceweb.common import views

app_name = "help"
urlpatterns = [
    path("reasons/", views.help_reasons, name="reasons"),
    path("reasons/<slug:code>/", views.help_reason, name="reason"),
    path("design/", views.help_design, name="design"),
]
