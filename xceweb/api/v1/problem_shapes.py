"""How an error looks in JSON."""

from __future__ import annotations

from rest_framework import serializers


class Problem(serializers.Serializer):
    """An error (RFC 9457); ``code`` is stable, ``fields`` says what is wrong field by field."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]
    request_id = serializers.CharField()
