"""
Who asks: a keypair in the Authorization header, or the session cookie of somebody who is logged in.

A keypair is sent as ``Basic ACCESS:SECRET`` (``curl -u ACCESS:SECRET``) or as ``Bearer ACCESS:SECRET``. The cookie
serves the pages' own scripts; what changes something needs the CSRF token then.
"""

from __future__ import annotations

import base64
import binascii

from rest_framework import authentication, exceptions, request

from scheduler import models
from scheduler.services import keypairs
from xceweb.common import log_in

_HOW = "Send a keypair as -u ACCESS:SECRET (Basic), or as Authorization: Bearer ACCESS:SECRET."


class KeypairAuthentication(authentication.BaseAuthentication):
    """Recognises keypairs; ``request.auth`` is the keypair then."""

    def authenticate(self, request: request.Request) -> tuple[models.User, models.Keypair] | None:
        """Return the person and the keypair; None where none was sent."""
        kind, _, value = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() not in ("basic", "bearer"):
            return None
        access_key, sign, secret = _pair(kind.lower(), value.strip()).partition(":")
        found = keypairs.recognise(access_key, secret) if sign else None
        if found is None:
            raise exceptions.AuthenticationFailed("This keypair is unknown, revoked or over. " + _HOW)
        return found.user, found

    def authenticate_header(self, request: request.Request) -> str:
        """Return what 401 demands; not Basic, for which browsers would open a window of their own."""
        return f'Bearer realm="xce", {log_in.challenge()}'


def _pair(kind: str, value: str) -> str:
    if kind == "bearer":
        return value
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
