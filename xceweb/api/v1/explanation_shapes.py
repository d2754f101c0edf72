"""How explanations look in JSON: why, what would have helped, the record of a decision, its re-run."""

from __future__ import annotations

from rest_framework import serializers

from xceweb.api import enums


class Explanation(serializers.Serializer):
    """Why a session is as it is; what follows ``note`` depends on ``kind``."""

    session = serializers.UUIDField()
    state = serializers.CharField()
    result = serializers.CharField(allow_blank=True)
    queue = serializers.CharField()
    group = serializers.CharField()
    kind = serializers.CharField(help_text="pending, preempted, or another state of the page")
    sentence = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(required=False, help_text="pending: code of the headline")
    facts = serializers.DictField(required=False, help_text="pending: the numbers of the headline")
    since = serializers.DateTimeField(required=False, allow_null=True, help_text="pending")
    decision = serializers.UUIDField(required=False, help_text="preempted")
    axis = serializers.CharField(required=False)
    own_value = serializers.IntegerField(required=False)
    preemptor_value = serializers.IntegerField(required=False)
    mode = serializers.CharField(required=False)
    policy_version = serializers.IntegerField(required=False)
    outcome = serializers.CharField(required=False)


class Answer(serializers.Serializer):
    """One change, tried."""

    kind = serializers.CharField()
    helps = serializers.BooleanField()
    facts = serializers.DictField()
    sentence = serializers.CharField()


class Counterfactuals(serializers.Serializer):
    """What would have come out otherwise."""

    session = serializers.UUIDField()
    kind = serializers.CharField()
    state = serializers.CharField()
    is_complete = serializers.BooleanField()
    policies = serializers.ListField(child=serializers.CharField())
    answers = Answer(many=True)


class Record(serializers.Serializer):
    """A decision as it was recorded, once and for all."""

    decision = serializers.UUIDField()
    number = serializers.IntegerField()
    at = serializers.DateTimeField()
    round = serializers.IntegerField()
    core_version = serializers.CharField()
    snapshot_digest = serializers.CharField()
    group = serializers.CharField()
    kind = serializers.CharField()
    axis = serializers.CharField()
    policy_name = serializers.CharField(allow_blank=True)
    policy_version = serializers.IntegerField()
    outcome = serializers.CharField()
    node = serializers.CharField()
    slots = serializers.DictField(child=serializers.IntegerField())
    preemptor = serializers.DictField()
    victims = serializers.ListField(child=serializers.DictField())
    candidates = serializers.ListField(child=serializers.DictField())
    nodes = serializers.ListField(child=serializers.DictField())


class Rerun(serializers.Serializer):
    """A decision, run again by this version of the core."""

    decision = serializers.UUIDField()
    round = serializers.IntegerField()
    state = serializers.ChoiceField(enums.RERUN_STATE)
    sentence = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    core_then = serializers.CharField()
    core_now = serializers.CharField()
    is_same_version = serializers.BooleanField()
    is_record_equal = serializers.BooleanField()
    decisions = serializers.IntegerField()
    equal = serializers.IntegerField()
    differing = serializers.ListField(child=serializers.DictField())
