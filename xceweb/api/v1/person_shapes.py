"""How people and their keypairs look in JSON."""

from __future__ import annotations

from rest_framework import serializers

from xceweb.api import enums, fields


class Keypair(serializers.Serializer):
    """A keypair without its secret."""

    access_key = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    user = serializers.CharField()
    scope = serializers.ChoiceField(enums.KEYPAIR_SCOPE)
    policy = serializers.CharField(allow_null=True)
    is_active = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class NewKeypair(Keypair):
    """A keypair with its secret, which is shown this once."""

    secret = serializers.CharField()


class KeypairRequest(fields.Strict):
    """A wish for a keypair; an administrator may name another person and another policy."""

    name = fields.Text(max_length=100)
    scope = fields.Text(required=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    user = fields.Text(required=False)
    policy = fields.Text(required=False, allow_null=True)


class SavedView(serializers.Serializer):
    """A query that is kept by a name."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    query = serializers.CharField(help_text="in the language of `q` of the list of sessions")
    created_at = serializers.DateTimeField()


class SavedViewRequest(fields.Strict):
    """A query to keep."""

    name = fields.Text(max_length=60)
    query = fields.Text(max_length=500)


class Me(serializers.Serializer):
    """Who asks, and what they may do."""

    username = serializers.CharField()
    is_administrator = serializers.BooleanField()
    roles = serializers.DictField(child=serializers.CharField(), help_text="group -> role, own or by a team")
    policy = serializers.CharField(allow_null=True)
    max_priority = serializers.IntegerField()
    may_opt_out = serializers.BooleanField()
    keypair = serializers.CharField(allow_null=True, help_text="the access key of this request")
    scope = serializers.CharField(allow_null=True)
