"""A program that speaks JSON to the API with a keypair, and what every answer must look like."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from django.http import HttpResponse
from django.test import Client
from rest_framework import serializers

from scheduler import models

BASE = "/api/v1"


@dataclasses.dataclass
class Api:
    """Asks addresses below ``/api/v1``."""

    client: Client
    keypair: models.Keypair
    secret: str

    @property
    def basic(self) -> str:
        """Return the header that shows the keypair."""
        pair = f"{self.keypair.access_key}:{self.secret}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"

    def get(self, path: str, **query: Any) -> HttpResponse:
        """Ask for something."""
        return self.client.get(BASE + path, query, headers={"Authorization": self.basic})

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Send a JSON body."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.generic(
            method,
            BASE + path,
            body if isinstance(body, str) else _json(body),
            content_type="application/json",
            headers={"Authorization": self.basic, **names},
        )

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Post a JSON body."""
        return self.send("POST", path, body, **headers)


def _json(body: Any) -> str:
    return json.dumps({} if body is None else body)


def assert_like(shape: type[serializers.Serializer[Any]] | serializers.Serializer[Any], found: Any) -> None:
    """Hold an answer against its shape: the same fields, and each of the kind that it says."""
    field = shape() if isinstance(shape, type) else shape
    _compare(field, found, "answer")


def _compare(field: Any, value: Any, where: str) -> None:
    if value is None:
        assert field.allow_null, where
    elif isinstance(field, serializers.ListSerializer | serializers.ListField):
        assert isinstance(value, list), where
        for place, each in enumerate(value):
            _compare(field.child, each, f"{where}[{place}]")
    elif isinstance(field, serializers.Serializer):
        required = {name for name, one in field.fields.items() if one.required}
        assert required <= set(value) <= set(field.fields), (where, set(value) ^ set(field.fields))
        for name, each in value.items():
            _compare(field.fields[name], each, f"{where}.{name}")
    elif isinstance(field, serializers.DictField):
        assert isinstance(value, dict), where
        for name, each in value.items():
            _compare(field.child, each, f"{where}.{name}")
    else:
        _compare_plain(field, value, where)


def _compare_plain(field: Any, value: Any, where: str) -> None:
    kinds = {serializers.IntegerField: int, serializers.BooleanField: bool, serializers.CharField: str}
    for kind, wanted in kinds.items():
        if isinstance(field, kind):
            assert type(value) is wanted, where
    if isinstance(field, serializers.ChoiceField):
        assert value in field.choices, where
    if isinstance(field, serializers.CharField) and not field.allow_blank:
        assert value, where
