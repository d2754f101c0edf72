"""Whether what opened a live connection still stands: asked of the database, not of what the handshake saw."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from django.conf import settings
from django.contrib import auth
from django.utils import crypto

from scheduler import clock, models
from scheduler.services import keypairs

#: Close codes that clients know: 4401 log in again, 4403 no access any more, 4429 too many connections: come later.
LOGGED_OUT = 4401
DEACTIVATED = 4403
TOO_MANY = 4429
_MEANINGS = {
    LOGGED_OUT: "the log-in or the keypair is over",
    DEACTIVATED: "this person has no access any more",
    TOO_MANY: "too many live connections of this person or address, or too many frames",
}
#: Returns the person of a connection, read anew; raises ``Ended`` once there is none.
Who = Callable[[], models.User]


class Ended(Exception):
    """The connection must end; ``code`` is the socket's close code."""

    def __init__(self, code: int) -> None:
        super().__init__(_MEANINGS[code])
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


def current_holder(keypair_id: int) -> models.User:
    """
    Return the active person whose keypair this is.

    Raises:
        Ended: revoked or over (4401), or its person is deactivated (4403).
    """
    row = models.Keypair.objects.select_related("user").filter(pk=keypair_id).first()
    if row is not None and not row.user.is_active:
        raise Ended(DEACTIVATED)
    if row is None or not keypairs.is_in_force(row, clock.now()):
        raise Ended(LOGGED_OUT)
    return row.user
