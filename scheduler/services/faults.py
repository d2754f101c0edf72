"""Faults of one request, collected so that all are reported at once."""

from __future__ import annotations

from typing import Any

from scheduler import errors


class Faults(dict[str, str]):
    """Field -> what is wrong; collects the faults of a request."""

    def __init__(self) -> None:
        super().__init__()
        self.codes: list[str] = []

    def add(self, field: str, text: str, code: str = "invalid") -> None:
        self.setdefault(field, text)
        self.codes.append(code)

    def attempt(self, call: Any) -> Any:
        """Return the call's answer; a refusal of it is collected and answers None."""
        try:
            return call()
        except errors.Refusal as refusal:
            for field, text in refusal.fields.items():
                self.add(field, text, refusal.code)
        return None

    def raise_if_any(self) -> None:
        if self:
            text = " ".join(f"{field.replace('_', ' ')}: {fault}." for field, fault in self.items())
            raise errors.Refusal(text, code=self.codes[0], fields=self)
