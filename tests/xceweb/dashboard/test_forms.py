"""Addresses and small forms, read strictly and without fuss."""

from __future__ import annotations

from xceweb.dashboard import forms


def test_the_forms_of_filters_leave_out_what_is_wrong() -> None:
    """A guessed value is no error page."""
    form = forms.SessionFilters({"owner": "x" * 151, "page": "-3", "q": "x", "reason": "no"})

    assert not form.is_valid()
    assert form.cleaned_data == {"q": "x", "state": "", "group": "", "queue": ""}


def test_a_change_form_reads_three_answers() -> None:
    """Yes, no, and not sent."""
    values = []
    for sent in ({"is_preemptible": "true"}, {"is_preemptible": "false"}, {}):
        form = forms.ChangeForm(sent)
        assert form.is_valid()
        values.append(form.changes()["is_preemptible"])

    assert values == [True, False, None]
