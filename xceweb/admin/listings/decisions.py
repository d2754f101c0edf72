"""Rounds, what they decided, and what came of it."""

from __future__ import annotations

from scheduler import models
from xceweb.admin import columns
from xceweb.admin.listing import Listing

_BY_SESSION = ("session__name", "session__public_id__exact")
_BY_DECISION = ("decision__public_id__exact", "decision__session__name")
_DECISIONS = "full ids of decisions and names of their sessions"

LISTINGS = (
    Listing(
        model=models.Round,
        columns=("number", "group", "at", "duration_ms", "dispatched", "pended", "preempted", "policy"),
        search=("number__exact", "group__slug", "digest"),
        searched="numbers, groups and digests",
        filters=("group",),
    ),
    Listing(
        model=models.Decision,
        columns=("public_id", "kind", "group", "session", "node", "axis", "policy_name", "at"),
        search=(*_BY_SESSION, "public_id__exact", "node__name", "policy_name"),
        searched="full ids of decisions and sessions, session names, nodes and policies",
        filters=("kind", "group", "axis"),
        page=columns.page_of_decision,
        events="decision",
    ),
    Listing(
        model=models.Victim,
        columns=("session", "decision", "axis", "action", "mode", "own_value", "preemptor_value", "attempt"),
        search=(*_BY_SESSION, "decision__public_id__exact"),
        searched="full ids of decisions and sessions, and session names",
        filters=("axis", "action", "mode", "decision__group"),
        page=columns.page_of_its_decision,
    ),
    Listing(
        model=models.VictimFate,
        columns=("victim__session", "victim__decision", "fate", "at"),
        search=("victim__session__name", "victim__session__public_id__exact"),
        searched="session names and full ids",
        filters=("fate",),
    ),
    Listing(
        model=models.Outcome,
        columns=("decision", "kind", "cause", "at"),
        search=(*_BY_DECISION, "cause"),
        searched=f"{_DECISIONS}, and causes",
        filters=("kind", "decision__group"),
        page=columns.page_of_its_decision,
    ),
    Listing(
        model=models.Handover,
        columns=("victim__session", "decision", "axis", "own_value", "holder_value", "at"),
        search=_BY_DECISION,
        searched=_DECISIONS,
        filters=("axis",),
        page=columns.page_of_its_decision,
    ),
    Listing(
        model=models.GivenUp,
        columns=("decision", "cause"),
        search=(*_BY_DECISION, "cause"),
        searched=f"{_DECISIONS}, and causes",
        page=columns.page_of_its_decision,
    ),
    Listing(
        model=models.ShadowCount,
        columns=("decision", "count", "last_at"),
        search=_BY_DECISION,
        searched=_DECISIONS,
        filters=("decision__group",),
        page=columns.page_of_its_decision,
    ),
    Listing(
        model=models.PreemptionEdge,
        columns=("winner", "loser", "decision"),
        search=(*_BY_DECISION, "winner__name", "loser__name"),
        searched=f"{_DECISIONS}, and names on both sides",
        filters=("decision__group",),
        page=columns.page_of_its_decision,
    ),
    Listing(
        model=models.Reservation,
        columns=("session", "node", "slots", "drawn", "deadline", "is_consumed", "decision"),
        search=(*_BY_SESSION, "node__name"),
        searched="session names, full ids and nodes",
        filters=("is_consumed", "node__group"),
        page=columns.page_of_its_decision,
    ),
    Listing(
        model=models.Claim,
        columns=("session", "session__group", "since"),
        search=_BY_SESSION,
        searched="session names and full ids",
        filters=("session__group",),
        page=columns.page_of_its_session,
    ),
    Listing(
        model=models.NodeBackoff,
        columns=("session", "node", "minutes", "until"),
        search=(*_BY_SESSION, "node__name"),
        searched="session names, full ids and nodes",
        filters=("minutes", "node__group"),
        page=columns.page_of_its_session,
    ),
)
