"""The form of a new keypair."""

from __future__ import annotations

import datetime

from django import forms

SCOPES = {
    "read": "Read: look, and change nothing",
    "sessions": "Sessions: read, submit, and act on sessions",
    "full": "Full: all that you may do yourself",
}
_LASTS = [
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "a year"),
    ("", "until it is revoked"),
]


class KeypairForm(forms.Form):
    """A wish for a keypair; what the service refuses of it is told at the field."""

    name = forms.CharField(
        max_length=100,
        label="What uses it",
        widget=forms.TextInput({"class": "input", "placeholder": "nightly pipeline", "autocomplete": "off"}),
    )
    scope = forms.ChoiceField(
        choices=list(SCOPES.items()),
        initial="sessions",
        label="What it may do",
        widget=forms.Select({"class": "select"}),
    )
    lasts = forms.ChoiceField(
        choices=_LASTS,
        initial="90",
        required=False,
        label="It lasts",
        widget=forms.Select({"class": "select"}),
    )

    def length(self) -> datetime.timedelta | None:
        """Return how long it is to last, None = for ever; once the form is valid."""
        days = self.cleaned_data["lasts"]
        return datetime.timedelta(days=int(days)) if days else None
