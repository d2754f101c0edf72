"""Addresses of the live feed over HTTP; the socket's is in ``routing``."""

from __future__ import annotations

from django.urls import path

from xceweb.live import views

app_name = "live"
urlpatterns = [path("events", views.event_list, name="event-list")]
