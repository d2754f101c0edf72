"""Addresses of sockets, behind the origin check and the log-in."""

from __future__ import annotations

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.urls import path

from xceweb.live import consumers, origins

application = origins.OriginCheck(
    AuthMiddlewareStack(URLRouter([path("ws/v1/stream", consumers.StreamConsumer.as_asgi())]))
)
