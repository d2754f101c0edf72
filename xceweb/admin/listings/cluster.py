"""Nodes, their agents, and what was ordered there."""

from __future__ import annotations

from django.contrib import admin

from scheduler import models
from xceweb.admin import columns, subjects
from xceweb.admin.listing import Listing

LISTINGS = (
    Listing(
        model=models.Node,
        columns=("name", "group", "state", "state_reason", "max_sessions", "agent__last_report_at"),
        search=("name", "state_reason"),
        searched="names and reasons",
        filters=("state", "group"),
        order=("name",),
        page=columns.page_of_node,
        subjects=subjects.of_node,
        events="node",
    ),
    Listing(
        model=models.NodeSlot,
        columns=("node", "kind", "capacity", "allocated", "reserved"),
        search=("node__name", "kind"),
        searched="nodes and kinds",
        filters=("kind", "node__group", "node__state"),
        order=("node__name", "kind"),
        page=columns.page_of_its_node,
    ),
    Listing(
        model=models.NodeDevice,
        columns=("node", "kind", "index", "session", "reservation"),
        search=("node__name", "session__name"),
        searched="nodes and session names",
        filters=("kind", ("session", admin.EmptyFieldListFilter), "node__group"),
        order=("node__name", "kind", "index"),
        page=columns.page_of_its_node,
    ),
    Listing(
        model=models.AgentStatus,
        columns=("node", "node__state", "version", "last_report_at", "hello_at", "sequence"),
        search=("node__name", "version"),
        searched="nodes and versions",
        filters=("version", "node__group", "node__state"),
        order=("node__name",),
        page=columns.page_of_its_node,
    ),
    Listing(
        model=models.AgentKey,
        columns=("key_id", "node", "created_at", "revoked_at"),
        search=("key_id", "node__name"),
        searched="key ids and nodes",
        filters=(("revoked_at", admin.EmptyFieldListFilter), "node__group"),
        hidden=("secret",),
        page=columns.page_of_its_node,
        subjects=subjects.of_node_key,
    ),
    Listing(
        model=models.AgentCommand,
        columns=(
            "kind",
            "node",
            "session",
            "epoch",
            "created_at",
            "times_sent",
            columns.is_settled,
            "settled_how",
        ),
        search=("command_id__exact", "session__name", "session__public_id__exact", "node__name"),
        searched="full ids of commands and sessions, session names and nodes",
        filters=("kind", ("settled_at", admin.EmptyFieldListFilter), "node__group"),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.Listening,
        columns=("since", "last_at"),
        search=("pk__exact",),
        searched="the row's number",
    ),
    Listing(
        model=models.SlotKind,
        columns=("name", "unit", "scale", "is_bytes", "is_indexed"),
        search=("name", "unit"),
        searched="names and units",
        filters=("is_indexed", "is_bytes"),
        order=("name",),
        subjects=subjects.of_slot_kind,
    ),
)
