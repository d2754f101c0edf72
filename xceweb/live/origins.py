"""
Who may open a socket: pages of this very installation only (full origin: scheme, host and port).

A socket carries the log-in cookie, so a foreign page must not be able to open one. Allowed are the public
URL's origin and the origin under which this request itself was served, when its host is one of ALLOWED_HOSTS.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from channels.security import websocket
from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]
_PAGE_SCHEMES = {"ws": "http", "wss": "https"}


class OriginCheck:
    """Refuses the handshake (403) of every other origin, and of none."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Pass an allowed handshake on."""
        allowed = is_allowed(scope)
        await (self.application if allowed else websocket.WebsocketDenier())(scope, receive, send)


def is_allowed(scope: Scope) -> bool:
    """Say whether the handshake comes from a page of this installation."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", [])}
    origin = _normal(headers.get(b"origin", ""))
    if origin is None:
        return False
    return origin == _normal(settings.PUBLIC_URL) or origin == _served(scope, headers)


def _normal(url: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of an origin, None for what is none (``null``, an opaque one)."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80)


def _served(scope: Scope, headers: Mapping[bytes, str]) -> tuple[str, str, int] | None:
    host = headers.get(b"host", "")
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return None
    return _normal(f"{_PAGE_SCHEMES.get(scope.get('scheme', 'ws'), 'http')}://{host}")
