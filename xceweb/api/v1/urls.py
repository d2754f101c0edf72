"""Addresses of version 1."""

from __future__ import annotations

from django.urls import path

from xceweb.api.v1 import (
    decisions,
    events,
    explanations,
    groups,
    nodes,
    people,
    queues,
    reruns,
    rules,
    runs,
    saved_views,
    session_views,
    sessions,
    shadow,
)

app_name = "api"
_GROUP, _SESSION, _DECISION = (
    "resource-groups/<slug:slug>",
    "sessions/<uuid:public_id>",
    "decisions/<uuid:public_id>",
)
urlpatterns = [
    path("me", people.Me.as_view(), name="me"),
    path("keypairs", people.Keypairs.as_view(), name="keypair-list"),
    path("keypairs/<str:access_key>", people.Keypair.as_view(), name="keypair"),
    path("keypairs/<str:access_key>/revoke", people.KeypairRevocation.as_view(), name="keypair-revoke"),
    path("sessions", sessions.Sessions.as_view(), name="session-list"),
    path("sessions/dry-run", session_views.SessionDryRun.as_view(), name="session-dry-run"),
    path(_SESSION, sessions.Session.as_view(), name="session"),
    path(f"{_SESSION}/explanation", explanations.SessionExplanation.as_view(), name="session-explanation"),
    path(
        f"{_SESSION}/counterfactuals",
        explanations.SessionCounterfactuals.as_view(),
        name="session-counterfactuals",
    ),
    path(f"{_SESSION}/timeline", session_views.SessionTimeline.as_view(), name="session-timeline"),
    path(f"{_SESSION}/runs", session_views.SessionRuns.as_view(), name="session-runs"),
    path(f"{_SESSION}/output", session_views.SessionOutput.as_view(), name="session-output"),
    path(f"{_SESSION}/<slug:action>", sessions.SessionAction.as_view(), name="session-act"),
    path("resource-groups", groups.Groups.as_view(), name="group-list"),
    path(_GROUP, groups.Group.as_view(), name="group"),
    path(f"{_GROUP}/preemption", rules.Preemption.as_view(), name="group-preemption"),
    path(f"{_GROUP}/preemption/cancel-planned", rules.PlannedCancel.as_view(), name="group-cancel-planned"),
    path(f"{_GROUP}/preemption/shadow-report", shadow.ShadowReport.as_view(), name="group-shadow-report"),
    path(f"{_GROUP}/preemption/undo", rules.Undo.as_view(), name="group-undo"),
    path(f"{_GROUP}/preemption/preview", rules.PreemptionPreview.as_view(), name="group-preview"),
    path(f"{_GROUP}/policies", rules.Policies.as_view(), name="group-policies"),
    path(f"{_GROUP}/roles", groups.GroupRoles.as_view(), name="group-roles"),
    path(f"{_GROUP}/rounds", decisions.Rounds.as_view(), name="group-rounds"),
    path(f"{_GROUP}/<slug:action>", groups.GroupAction.as_view(), name="group-act"),
    path("queues", queues.Queues.as_view(), name="queue-list"),
    path("queues/<slug:slug>", queues.Queue.as_view(), name="queue"),
    path("queues/<slug:slug>/remove", queues.QueueRemoval.as_view(), name="queue-remove"),
    path("queues/<slug:slug>/order", queues.QueueOrder.as_view(), name="queue-order"),
    path("nodes", nodes.Nodes.as_view(), name="node-list"),
    path("nodes/<slug:name>", nodes.Node.as_view(), name="node"),
    path("nodes/<slug:name>/<slug:action>", nodes.NodeAction.as_view(), name="node-act"),
    path("decisions", decisions.Decisions.as_view(), name="decision-list"),
    path(_DECISION, explanations.Decision.as_view(), name="decision-record"),
    path(f"{_DECISION}/re-run", reruns.DecisionRerun.as_view(), name="decision-rerun"),
    path("preemptions", decisions.Preemptions.as_view(), name="preemption-list"),
    path("saved-views", saved_views.SavedViews.as_view(), name="view-list"),
    path("saved-views/<uuid:public_id>", saved_views.SavedView.as_view(), name="view"),
    path("runs", runs.Runs.as_view(), name="run-list"),
    path("events", events.Events.as_view(), name="event-list"),
]
