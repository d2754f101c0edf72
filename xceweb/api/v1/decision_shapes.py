"""How decisions and rounds look in JSON."""

from __future__ import annotations

from rest_framework import serializers


class DecisionLine(serializers.Serializer):
    """One preemption in a list."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    at = serializers.DateTimeField()
    group = serializers.CharField()
    kind = serializers.CharField()
    axis = serializers.CharField()
    policy_name = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    queue = serializers.CharField()
    preemptor = serializers.UUIDField(allow_null=True)
    victims = serializers.IntegerField()
    round = serializers.IntegerField()


class Stop(serializers.Serializer):
    """One session that was stopped for another."""

    id = serializers.IntegerField()
    decision = serializers.UUIDField()
    at = serializers.DateTimeField()
    group = serializers.CharField()
    session = serializers.UUIDField(allow_null=True)
    preemptor = serializers.UUIDField(allow_null=True)
    axis = serializers.CharField()
    mode = serializers.CharField()
    action = serializers.CharField()
    own_value = serializers.IntegerField()
    preemptor_value = serializers.IntegerField()
    fate = serializers.CharField(allow_null=True, help_text="what became of it; null while it is under way")


class Round(serializers.Serializer):
    """One round that was stored, because it decided something that is kept."""

    number = serializers.IntegerField()
    group = serializers.CharField()
    at = serializers.DateTimeField()
    duration_ms = serializers.IntegerField()
    policy_version = serializers.IntegerField()
    core_version = serializers.CharField()
    digest = serializers.CharField()
    dispatched = serializers.IntegerField()
    preempted = serializers.IntegerField()
    pended = serializers.IntegerField()
    has_snapshot = serializers.BooleanField()
