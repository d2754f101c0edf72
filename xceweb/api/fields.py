"""Fields that take exactly what JSON says: 9 is no "9", true is no 1, and 9.5 no 9."""

from __future__ import annotations

from typing import Any

from drf_spectacular import utils
from rest_framework import serializers


class Strict(serializers.Serializer[Any]):
    """An object of which every key is known."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the values; a key that means nothing is a fault of its own."""
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError(dict.fromkeys(unknown, "there is no such field"))
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """A whole number, and nothing that could pass for one."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number."""
        if type(data) is not int:
            raise serializers.ValidationError("must be a whole number")
        number: int = super().to_internal_value(data)
        return number


class Flag(serializers.BooleanField):
    """true or false, and nothing that could pass for one."""

    def to_internal_value(self, data: Any) -> bool:
        """Return the flag."""
        if type(data) is not bool:
            raise serializers.ValidationError("must be true or false")
        return data


class Text(serializers.CharField):
    """Text without NUL characters; numbers are none."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text as it is written."""
        if not isinstance(data, str):
            raise serializers.ValidationError("must be text")
        text: str = super().to_internal_value(data)
        return text


@utils.extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {"type": ["string", "integer", "number"]},
        "example": {"cpu": 2, "mem": "4g"},
    }
)
class Amounts(serializers.Field[dict[str, str], Any, dict[str, int], Any]):
    """kind -> amount as people write it (``"0.5"``, ``"4g"``, 2); given out in the smallest unit of the kind."""

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Return kind -> text."""
        if not isinstance(data, dict):
            raise serializers.ValidationError("must be an object of amounts by kind")
        for kind, amount in data.items():
            if isinstance(amount, bool) or not isinstance(amount, str | int | float):
                raise serializers.ValidationError(f'{kind}: must be an amount such as 2, 0.5 or "4g"')
        return {kind: str(amount) for kind, amount in data.items()}

    def to_representation(self, value: dict[str, int]) -> dict[str, int]:
        """Return kind -> amount in the smallest unit."""
        return dict(value)
