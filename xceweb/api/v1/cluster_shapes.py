"""How groups, queues and nodes look in JSON."""

from __future__ import annotations

from rest_framework import serializers

from xceweb.api import enums


class KindUse(serializers.Serializer):
    """What is used of a kind, in its smallest unit."""

    capacity = serializers.IntegerField()
    allocated = serializers.IntegerField()
    releasing = serializers.IntegerField()
    reserved = serializers.IntegerField()
    free = serializers.IntegerField()
    drained = serializers.IntegerField()


class Group(serializers.Serializer):
    """A resource group."""

    slug = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    role = serializers.CharField(allow_null=True, help_text="the reader's")
    preemption = serializers.ChoiceField(enums.PREEMPTION_STATE)
    is_starting = serializers.BooleanField()
    policy_version = serializers.IntegerField()
    queues = serializers.ListField(child=serializers.CharField())
    nodes = serializers.IntegerField()
    capacity = serializers.DictField(child=KindUse())
    sessions = serializers.DictField(child=serializers.IntegerField(), help_text="by state")
    last_round = serializers.IntegerField()
    last_round_at = serializers.DateTimeField(allow_null=True)


class RoleOfPerson(serializers.Serializer):
    """One person with the strongest of their roles in a group."""

    username = serializers.CharField()
    role = serializers.CharField(help_text="viewer, submitter, operator or manager")
    why = serializers.ListField(
        child=serializers.CharField(), help_text="administrator, own, or team NAME: where the role comes from"
    )
    may = serializers.ListField(child=serializers.CharField(), help_text="the rights, such as `switch`")
    may_switch = serializers.BooleanField()


class GroupRoles(serializers.Serializer):
    """Who may do what in a group."""

    group = serializers.CharField()
    people = RoleOfPerson(many=True)
    is_complete = serializers.BooleanField(help_text="false: weaker roles of others are left out")


class Place(serializers.Serializer):
    """One session's place in a line."""

    position = serializers.IntegerField()
    session = serializers.UUIDField()
    name = serializers.CharField(allow_null=True)
    is_mine = serializers.BooleanField()
    group = serializers.CharField()
    queue = serializers.CharField()
    state = serializers.CharField()
    priority = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class Node(serializers.Serializer):
    """A machine."""

    name = serializers.CharField()
    group = serializers.CharField()
    state = serializers.ChoiceField(enums.NODE_STATE)
    state_reason = serializers.CharField(allow_blank=True)
    labels = serializers.DictField(child=serializers.CharField())
    max_sessions = serializers.IntegerField(allow_null=True)
    last_report_at = serializers.DateTimeField(allow_null=True)
    slots = serializers.DictField(child=KindUse())
    devices = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
