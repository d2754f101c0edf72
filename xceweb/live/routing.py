"""Addresses of sockets, behind the origin check; the consumer looks at the log-in."""

from __future__ import annotations

from channels.routing import URLRouter
from channels.sessions import SessionMiddlewareStack
from django.urls import path

from xceweb.live import consumers, origins

application = origins.OriginCheck(
    SessionMiddlewareStack(URLRouter([path("ws/v1/stream", consumers.StreamConsumer.as_asgi())]))
)
