"""Addresses of the pages for everybody."""

from __future__ import annotations

from django.urls import path

from xceweb.dashboard.views import (
    cluster,
    decisions,
    first_steps,
    overview,
    queues,
    saved_views,
    session_bulk,
    session_lists,
    sessions,
    submit,
)

app_name = "dashboard"
urlpatterns = [
    path("", overview.overview, name="overview"),
    path("first-steps/", first_steps.first_steps, name="first-steps"),
    path("sessions/", session_lists.session_list, name="session-list"),
    path("sessions/act/<slug:action>/", session_bulk.session_bulk, name="session-bulk"),
    path("sessions/query-help/", session_lists.session_query_help, name="session-query-help"),
    path("sessions/export/<slug:kind>/", session_lists.session_export, name="session-export"),
    path("sessions/views/", saved_views.view_keep, name="view-keep"),
    path("sessions/views/<uuid:public_id>/remove/", saved_views.view_remove, name="view-remove"),
    path("sessions/new/", submit.session_submit, name="session-submit"),
    path("sessions/new/dry-run/", submit.session_dry_run, name="session-dry-run"),
    path("sessions/<uuid:public_id>/", sessions.session_detail, name="session-detail"),
    path("sessions/<uuid:public_id>/act/<slug:action>/", sessions.session_act, name="session-act"),
    path("sessions/<uuid:public_id>/<slug:tab>/", sessions.session_detail, name="session-tab"),
    path("queues/", queues.queue_list, name="queue-list"),
    path("queues/<slug:slug>/", queues.queue_detail, name="queue-detail"),
    path("queues/<slug:slug>/remove/", queues.queue_remove, name="queue-remove"),
    path("nodes/", cluster.node_list, name="node-list"),
    path("nodes/<slug:name>/", cluster.node_detail, name="node-detail"),
    path("nodes/<slug:name>/act/", cluster.node_act, name="node-act"),
    path("groups/<slug:slug>/", cluster.group_detail, name="group-detail"),
    path("groups/<slug:slug>/act/<slug:verb>/", cluster.group_act, name="group-act"),
    path("decisions/", decisions.decision_list, name="decision-list"),
    path("decisions/<uuid:public_id>/", decisions.decision_detail, name="decision-detail"),
    path("decisions/<uuid:public_id>/re-run/", decisions.decision_rerun, name="decision-rerun"),
]
