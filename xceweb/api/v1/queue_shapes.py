"""How a queue looks in JSON, and what an administrator may change of it."""

from __future__ import annotations

from rest_framework import serializers

from scheduler.services import queues
from xceweb.api import enums, fields


def _names() -> serializers.ListField:
    return serializers.ListField(required=False, child=fields.Text(max_length=150), max_length=1_000)


class Queue(serializers.Serializer):
    """A queue and its cross-owner rules."""

    slug = serializers.CharField()
    version = serializers.IntegerField(help_text="of its rules; the ETag of the queue")
    description = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(enums.QUEUE_STATE)
    preemptible = serializers.BooleanField()
    preemptible_queues = serializers.ListField(child=serializers.CharField())
    preempt_policy = serializers.CharField()
    preempt_policy_error = serializers.CharField(allow_blank=True)
    preemption_mode = serializers.CharField(allow_blank=True, help_text="empty: the group's")
    default_priority = serializers.IntegerField(allow_null=True)
    max_priority = serializers.IntegerField()
    max_concurrent_sessions = serializers.IntegerField(allow_null=True, help_text="null: no limit")
    max_slots = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="kind -> amount in the smallest unit; a kind left out: no limit",
    )
    submit_users = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="null: only administrators read it; with submit_teams empty too: every submitter of its groups",
    )
    submit_teams = serializers.ListField(child=serializers.CharField(), allow_null=True)
    cycles = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="each a cycle of queues, this one among them, that may preempt each other",
    )
    groups = serializers.ListField(child=serializers.CharField())
    running = serializers.IntegerField()
    pending = serializers.IntegerField()
    oldest_wait_s = serializers.IntegerField(allow_null=True)
    changed_by = serializers.CharField(allow_blank=True)
    changed_at = serializers.DateTimeField(allow_null=True)


class QueueChange(fields.Strict):
    """New rules of a queue: those that are left out stay (PATCH), or go back to the defaults (PUT)."""

    description = fields.Text(required=False, allow_blank=True, max_length=200)
    state = serializers.ChoiceField(enums.QUEUE_STATE, required=False)
    preemptible = fields.Flag(required=False)
    preemptible_queues = _names()
    preempt_policy = fields.Text(
        required=False, allow_blank=True, max_length=64, help_text="empty: lowest_priority_first"
    )
    preemption_mode = fields.Text(
        required=False,
        allow_blank=True,
        max_length=12,
        help_text="terminate, reschedule, suspend; empty: the group's",
    )
    default_priority = fields.Whole(required=False, allow_null=True)
    max_priority = fields.Whole(required=False)
    max_concurrent_sessions = fields.Whole(required=False, allow_null=True, min_value=0, max_value=2**31 - 1)
    max_slots = serializers.DictField(
        child=fields.Whole(), required=False, help_text="kind -> amount in the smallest unit"
    )
    submit_users = _names()
    submit_teams = _names()
    reason = fields.Text(max_length=500)


def changes(values: dict[str, object]) -> dict[str, object]:
    """Return what is to change of a body that was read."""
    return {name: values[name] for name in queues.FIELDS if name in values}
