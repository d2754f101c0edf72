"""Addresses of the API's description: the schema, and the page on which it can be tried."""

from __future__ import annotations

from django.urls import path
from drf_spectacular import views

from xceweb.api import schema

app_name = "schema"
urlpatterns = [
    path("schema", views.SpectacularAPIView.as_view(throttle_classes=[]), name="openapi"),
    path("docs", schema.ApiDocs.as_view(), name="docs"),
]
