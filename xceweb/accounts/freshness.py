"""
How long ago a person proved who they are, for what takes more than an open browser: a stamp in the log-in itself.

A password that is asked for again is slowed down after failures like a log-in.
"""

from __future__ import annotations

import datetime
from typing import Any

from django import http
from django.conf import settings
from django.contrib import auth
from django.contrib.auth import signals
from django.utils import timezone

from scheduler import models
from xceweb.accounts import throttle

_KEY = "xce_proven_at"


def connect() -> None:
    """Stamp every log-in from now on."""
    signals.user_logged_in.connect(_stamp, dispatch_uid="xceweb.accounts.freshness")


def _stamp(request: http.HttpRequest, user: models.User, **more: Any) -> None:
    request.session[_KEY] = timezone.now().isoformat()


def is_fresh(request: http.HttpRequest) -> bool:
    """Say whether who is logged in has proven it within ``FRESH_LOG_IN_MINUTES``; 0 = that is never asked."""
    minutes = settings.FRESH_LOG_IN_MINUTES
    if not minutes:
        return True
    text = request.session.get(_KEY)
    if not text:
        return False
    return timezone.now() - datetime.datetime.fromisoformat(text) <= datetime.timedelta(minutes=minutes)


def prove(request: http.HttpRequest, password: str) -> str:
    """Take a password again; return what is wrong with it, empty when the log-in is fresh now."""
    account = request.user.get_username()
    address = request.META.get("REMOTE_ADDR", "")
    if wait_s := throttle.wait_s(account, address):
        return f"Too many failed tries: wait {wait_s} s."
    found = auth.authenticate(request, username=account, password=password)
    if found is None or found.pk != request.user.pk:
        throttle.failed(account, address)
        return "That is not your password."
    throttle.succeeded(account, address)
    _stamp(request, found)
    return ""
