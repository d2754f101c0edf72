"""Signing in, slowed down after failures, and signing out."""

from __future__ import annotations

from typing import Any

from django import http
from django.contrib.auth import forms, views

from xceweb.accounts import throttle
from xceweb.live import rights


class LoginForm(forms.AuthenticationForm):
    """Django's, drawn as all other forms are."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what Django's takes."""
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"


class LoginView(views.LoginView):
    """Django's; after some failures of one account from one address further tries are refused for a time (429)."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True
    authentication_form = LoginForm

    def post(self, request: http.HttpRequest, *args: Any, **kwargs: Any) -> http.HttpResponse:
        """Log in, unless the pair of account and address has to wait."""
        wait_s = throttle.wait_s(*self._pair())
        return self._refuse(wait_s) if wait_s else super().post(request, *args, **kwargs)

    def form_valid(self, form: forms.AuthenticationForm) -> http.HttpResponse:
        """Let the person in, and forget earlier failures."""
        throttle.succeeded(*self._pair())
        return super().form_valid(form)

    def form_invalid(self, form: forms.AuthenticationForm) -> http.HttpResponse:
        """Show the form again; a wrong password counts, an empty field does not."""
        if form.non_field_errors():
            throttle.failed(*self._pair())
        return super().form_invalid(form)

    def _refuse(self, wait_s: int) -> http.HttpResponse:
        form = LoginForm(self.request, initial={"username": self.request.POST.get("username", "")})
        context = self.get_context_data(form=form, wait_s=wait_s)
        response = self.render_to_response(context, status=429)
        response["Retry-After"] = str(wait_s)
        return response

    def _pair(self) -> tuple[str, str]:
        return self.request.POST.get("username", ""), self.request.META.get("REMOTE_ADDR", "")


class LogoutView(views.LogoutView):
    """Django's, and the person's open sockets are looked at again as soon as the log-in is gone."""

    def post(self, request: http.HttpRequest, *args: Any, **kwargs: Any) -> http.HttpResponse:
        """End the log-in."""
        user_id = request.user.pk
        response = super().post(request, *args, **kwargs)
        if user_id is not None:
            rights.changed([user_id])
        return response
