"""Addresses of version 1."""

from __future__ import annotations

from django.urls import path

from xceweb.api.v1 import explanations, nodes, reruns

app_name = "api"
urlpatterns = [
    path(
        "sessions/<uuid:public_id>/explanation", explanations.session_explanation, name="session-explanation"
    ),
    path(
        "sessions/<uuid:public_id>/counterfactuals",
        explanations.session_counterfactuals,
        name="session-counterfactuals",
    ),
    path("nodes/<slug:name>/lost", nodes.node_lost, name="node-lost"),
    path("decisions/<uuid:public_id>", explanations.decision_record, name="decision-record"),
    path("decisions/<uuid:public_id>/re-run", reruns.decision_rerun, name="decision-rerun"),
]
