"""Forms of the pages for everybody."""

from __future__ import annotations

import contextlib
import uuid

from django import forms, http

from scheduler.core import decisions as core
from scheduler.selectors import decisions, sessions


class SessionFilters(forms.Form):
    """The filter bar of the session list; everything is in the address, and what cannot be read narrows nothing."""

    q = forms.CharField(required=False, max_length=500)
    state = forms.CharField(required=False, max_length=20)
    owner = forms.CharField(required=False, max_length=150)
    group = forms.SlugField(required=False)
    queue = forms.SlugField(required=False)
    reason = forms.ChoiceField(required=False, choices=[(one.value, one.value) for one in core.PendReason])
    page = forms.IntegerField(required=False, min_value=1, max_value=100_000)


def session_filters(query: http.QueryDict) -> tuple[sessions.Filters, int]:
    """Return the filters and the page number of an address."""
    form = SessionFilters(query)
    form.is_valid()
    values = form.cleaned_data
    number = values.pop("page", None) or 1
    return sessions.Filters(**{name: text or "" for name, text in values.items()}), number


def shown_sessions(query: http.QueryDict) -> list[uuid.UUID]:
    """Return the ids of the rows that a page shows already; of one page at most."""
    found = []
    for text in query.get("shown", "").split()[: sessions.PAGE]:
        with contextlib.suppress(ValueError):
            found.append(uuid.UUID(text))
    return found


class OutputPage(forms.Form):
    """Which page of a session's output is looked at."""

    offset = forms.IntegerField(required=False, min_value=0, max_value=2**60)
    rank = forms.IntegerField(required=False, min_value=0, max_value=10_000)


def output_place(request: http.HttpRequest) -> tuple[int | None, int]:
    """Return the first byte of output that an address asks for, None for the last lines, and the rank of its node."""
    form = OutputPage(request.GET)
    form.is_valid()
    return form.cleaned_data.get("offset"), form.cleaned_data.get("rank") or 0


class DecisionFilters(forms.Form):
    """The filter bar of the history."""

    group = forms.SlugField(required=False)
    outcome = forms.ChoiceField(required=False, choices=[(name, name) for name in decisions.OUTCOMES])
    axis = forms.ChoiceField(required=False, choices=[("owner", "owner"), ("queue", "queue")])
    page = forms.IntegerField(required=False, min_value=1, max_value=100_000)


def decision_filters(request: http.HttpRequest) -> tuple[decisions.Filters, int]:
    """Return the filters and the page number of an address."""
    form = DecisionFilters(request.GET)
    form.is_valid()
    values = form.cleaned_data
    number = values.pop("page", None) or 1
    return decisions.Filters(**{name: text or "" for name, text in values.items()}), number


class ChangeForm(forms.Form):
    """What may be changed of a living session; what is not sent stays as it is. Bounds are the service's."""

    priority = forms.IntegerField(required=False)
    job_priority = forms.IntegerField(required=False)
    is_preemptible = forms.ChoiceField(required=False, choices=[("true", "Yes"), ("false", "No")])

    def changes(self) -> dict[str, object]:
        """Return the arguments of ``control.change_session``."""
        values = self.cleaned_data
        chosen = {"true": True, "false": False}.get(values["is_preemptible"])
        return {
            "priority": values["priority"],
            "job_priority": values["job_priority"],
            "is_preemptible": chosen,
        }
