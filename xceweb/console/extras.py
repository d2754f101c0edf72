"""What is sent with the rules: from when and for how long, and the assent. Faults go to their fields."""

from __future__ import annotations

import dataclasses

from django import http

from scheduler import errors
from xceweb.accounts import freshness
from xceweb.console import assent_form, policy_form, when_form

#: field of a refusal -> field of the form that asks for it
_WHEN = {"at": "at", "for_s": "for_amount"}
_ASSENT = {"confirm": "confirm", "password": "password"}


@dataclasses.dataclass(frozen=True)
class Extras:
    """The two forms beside the rules, and whether the log-in is fresh."""

    when: when_form.WhenForm
    assent: assent_form.AssentForm
    is_fresh: bool

    def are_valid(self) -> bool:
        """Check both."""
        return all([self.when.is_valid(), self.assent.is_valid()])


def of(request: http.HttpRequest) -> Extras:
    """Return the forms as they were sent, or empty ones."""
    data = request.POST if request.method == "POST" else None
    return Extras(when_form.WhenForm(data), assent_form.AssentForm(data), freshness.is_fresh(request))


def add_refusal(form: policy_form.PolicyForm, extras: Extras, refusal: errors.Refusal) -> None:
    """Show each fault of a refusal at its field, whichever form it is in, unless one is told there already."""
    rest = dict(refusal.fields)
    for part, names in ((extras.when, _WHEN), (extras.assent, _ASSENT)):
        for name, own in names.items():
            text = rest.pop(name, "")
            if text and own not in part.errors:
                part.add_error(own, f"{text[:1].upper()}{text[1:]}.")
    if rest or not refusal.fields:
        form.add_refusal(errors.Refusal(str(refusal), code=refusal.code, fields=rest))
