"""Resource groups with their rules, queues, and limits. All of them are changed on the product's pages and by API."""

from __future__ import annotations

from django.contrib import admin

from scheduler import models
from xceweb.admin import columns, subjects
from xceweb.admin.listing import Listing

LISTINGS = (
    Listing(
        model=models.ResourceGroup,
        columns=(
            "slug",
            columns.switch,
            "policy__preemption_mode",
            "policy__starting",
            "policy__version",
            "description",
        ),
        search=("slug", "description"),
        searched="names and descriptions",
        filters=("policy__preemption_state", "policy__preemption_mode", "policy__starting"),
        order=("slug",),
        page=columns.page_of_policy,
        subjects=subjects.of_group,
        events="group",
    ),
    Listing(
        model=models.PolicyVersion,
        columns=(
            "group",
            "version",
            "preemption_state",
            "preemption_mode",
            "created_by_name",
            "created_at",
            "reason",
        ),
        search=("group__slug", "created_by_name", "reason"),
        searched="groups, people and reasons",
        filters=("group", "preemption_state", "preemption_mode", "preemption_scope"),
        page=columns.page_of_its_policy,
        subjects=subjects.of_policy_version,
    ),
    Listing(
        model=models.PlannedChange,
        columns=("group", "kind", "at", "changes", "created_by_name", "reason", "end"),
        search=("group__slug", "created_by_name", "reason"),
        searched="groups, people and reasons",
        filters=("kind", ("ended_at", admin.EmptyFieldListFilter), "end", "group"),
        page=columns.page_of_its_policy,
        subjects=subjects.of_planned_change,
    ),
    Listing(
        model=models.GroupRounds,
        columns=("group", "last_number", "last_at", "last_ms", "asked", "served"),
        search=("group__slug",),
        searched="groups",
        order=("group__slug",),
        page=columns.page_of_its_policy,
    ),
    Listing(
        model=models.Queue,
        columns=(
            "slug",
            "state",
            "preemptible",
            "default_priority",
            "max_priority",
            "preempt_policy",
            "preemption_mode",
            "changed_by_name",
            "changed_at",
        ),
        search=("slug", "description"),
        searched="names and descriptions",
        filters=("state", "preemptible", "preemption_mode", "groups"),
        order=("slug",),
        page=columns.page_of_queues,
        subjects=subjects.of_queue,
    ),
    Listing(
        model=models.QueueUsage,
        columns=("queue", "kind", "used"),
        search=("queue__slug", "kind"),
        searched="queues and kinds",
        filters=("kind",),
        order=("queue__slug", "kind"),
        page=columns.page_of_queues,
    ),
    Listing(
        model=models.KeypairResourcePolicy,
        columns=(
            "name",
            "max_priority",
            "default_priority",
            "max_concurrent_sessions",
            "max_slots",
            "may_opt_out",
        ),
        search=("name",),
        searched="names",
        filters=("may_opt_out",),
        order=("name",),
        subjects=subjects.of_resource_policy,
    ),
)
