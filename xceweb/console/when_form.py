"""When a change of rules is in force: from now or a time on, for good or for a while."""

from __future__ import annotations

import datetime
from typing import Any

from django import forms

from scheduler.services import planned_changes

UNITS = {"minutes": 60, "hours": 3_600, "days": 86_400}
_INPUT = {"class": "input"}


class WhenForm(forms.Form):
    """Sent with the policy form. Without scripts ``at`` is UTC; with them ``at_utc`` is the same moment, exactly."""

    when = forms.ChoiceField(
        required=False,
        choices=[("now", "Now"), ("at", "At a time"), ("for", "For a while, then back")],
        initial="now",
    )
    at = forms.DateTimeField(
        label="From",
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        widget=forms.DateTimeInput(attrs={**_INPUT, "type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    at_utc = forms.DateTimeField(
        required=False, input_formats=["%Y-%m-%dT%H:%M:%S.%fZ"], widget=forms.HiddenInput
    )
    for_amount = forms.IntegerField(
        label="For",
        required=False,
        min_value=1,
        max_value=100_000,
        widget=forms.NumberInput(attrs={**_INPUT, "min": 1}),
    )
    for_unit = forms.ChoiceField(
        label="Unit of the time",
        required=False,
        choices=[(unit, unit) for unit in UNITS],
        initial="hours",
        widget=forms.Select(attrs={"class": "select"}),
    )

    def clean(self) -> dict[str, Any]:
        """Demand what the choice needs."""
        values = super().clean() or {}
        choice = values.get("when") or "now"
        if choice == "at" and not values.get("at") and "at" not in self.errors:
            self.add_error("at", "Write from when.")
        if choice == "for" and not values.get("for_amount") and "for_amount" not in self.errors:
            self.add_error("for_amount", "Write for how long.")
        return values

    def value(self) -> planned_changes.When:
        """Return the answer of a form that ``is_valid``."""
        values = self.cleaned_data
        choice, amount = values["when"] or "now", values["for_amount"]
        seconds = amount * UNITS[values["for_unit"] or "hours"] if amount and choice != "now" else None
        at: datetime.datetime | None = None
        if choice == "at":
            at = (values["at_utc"] or values["at"]).replace(tzinfo=datetime.UTC)
        return planned_changes.When(at, seconds)

    def choice(self) -> str:
        """Return ``now``, ``at`` or ``for``, as it stands in the form."""
        wanted = self["when"].value() or "now"
        return wanted if wanted in dict(self.fields["when"].choices) else "now"
