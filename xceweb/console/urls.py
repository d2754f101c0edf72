"""Addresses of the console."""

from __future__ import annotations

from django.urls import path

from xceweb.console.views import announcements, node_keys, policy, roles

app_name = "console"
urlpatterns = [
    path("announcements/", announcements.announcement_list, name="announcement-list"),
    path("announcements/<int:number>/end/", announcements.announcement_end, name="announcement-end"),
    path("nodes/<slug:name>/keys/", node_keys.node_keys, name="node-keys"),
    path("nodes/<slug:name>/keys/<slug:key_id>/revoke/", node_keys.node_key_revoke, name="node-key-revoke"),
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
