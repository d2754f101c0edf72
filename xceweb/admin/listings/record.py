"""What is kept for ever: events, and who changed what."""

from __future__ import annotations

from scheduler import models
from xceweb.admin import columns, subjects
from xceweb.admin.listing import Listing

LISTINGS = (
    Listing(
        model=models.Event,
        columns=("number", "at", "type", "group", "session", "node", "actor_name"),
        search=("number__exact", "type__startswith", "session__name", "actor_name"),
        searched="numbers, types (from their beginning), session names and people",
        filters=("group",),
    ),
    Listing(
        model=models.EventCounter,
        columns=("id", "last"),
        search=("last__exact",),
        searched="the last number",
    ),
    Listing(
        model=models.ConfigChange,
        columns=("at", "actor_name", "object_type", "object_name", "reason", "request_id"),
        search=("actor_name", "object_type", "object_name", "reason", "request_id"),
        searched="people, things, reasons and request ids",
        filters=("object_type", "group"),
        subjects=subjects.of_change,
    ),
    Listing(
        model=models.Announcement,
        columns=("text", "tone", "made_by_name", "made_at", "until", "ended_at"),
        search=("text", "made_by_name"),
        searched="texts and people",
        filters=("tone",),
        page=columns.page_of_announcements,
        subjects=subjects.of_announcement,
    ),
)
