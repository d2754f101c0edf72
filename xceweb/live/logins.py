"""Whether the log-in behind a socket still stands: asked of the database, not of what the handshake saw."""

from __future__ import annotations

import importlib

from django.conf import settings
from django.contrib import auth
from django.utils import crypto

from scheduler import models

#: Close codes that clients know: 4401 log in again, 4403 no access any more.
LOGGED_OUT = 4401
DEACTIVATED = 4403


class Ended(Exception):
    """The log-in is over; ``code`` is the socket's close code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"log-in ended ({code})")
        self.code = code


def current_user(session_key: str | None) -> models.User:
    """
    Return the active person behind a browser session.

    Raises:
        Ended: logged out, expired, password changed (4401), or deactivated (4403).
    """
    engine = importlib.import_module(settings.SESSION_ENGINE)
    stored = engine.SessionStore(session_key) if session_key else {}
    user = models.User.objects.filter(pk=stored.get(auth.SESSION_KEY)).first()
    if user is None:
        raise Ended(LOGGED_OUT)
    if not user.is_active:
        raise Ended(DEACTIVATED)
    if not crypto.constant_time_compare(stored.get(auth.HASH_SESSION_KEY, ""), user.get_session_auth_hash()):
        raise Ended(LOGGED_OUT)
    return user
