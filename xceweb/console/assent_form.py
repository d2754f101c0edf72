"""What a switch that stops others takes beside a reason: the password again, and the group's name typed out."""

from __future__ import annotations

from django import forms, http

from scheduler.services import policy_guards
from xceweb.accounts import freshness


class AssentForm(forms.Form):
    """Sent with the policy form; the page shows each field only when it is needed."""

    confirm = forms.CharField(
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off", "spellcheck": "false"}),
    )
    password = forms.CharField(
        label="Your password",
        required=False,
        max_length=500,
        strip=False,
        widget=forms.PasswordInput(attrs={"class": "input", "autocomplete": "current-password"}),
    )

    def assent(self, request: http.HttpRequest) -> policy_guards.Assent:
        """Return the answer of a form that ``is_valid``; a password that was sent is tried if the log-in is old."""
        is_fresh = freshness.is_fresh(request)
        password = self.cleaned_data["password"]
        if not is_fresh and password:
            fault = freshness.prove(request, password)
            is_fresh = not fault
            if fault:
                self.add_error("password", fault)
        return policy_guards.Assent(is_fresh, self.cleaned_data["confirm"])
