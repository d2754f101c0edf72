"""Addresses of the console."""

from __future__ import annotations

from django.urls import path

from xceweb.console.views import policy, roles

app_name = "console"
urlpatterns = [
    path("groups/<slug:slug>/roles/", roles.group_roles, name="group-roles"),
    path("groups/<slug:slug>/policy/", policy.group_policy, name="group-policy"),
    path("groups/<slug:slug>/policy/preview/", policy.group_policy_preview, name="group-policy-preview"),
    path(
        "groups/<slug:slug>/policy/cancel-planned/",
        policy.group_policy_cancel_planned,
        name="group-policy-cancel-planned",
    ),
    path("groups/<slug:slug>/policy/undo/<int:version>/", policy.group_policy_undo, name="group-policy-undo"),
]
