"""What the stream is measured beside: a plain Channels group that passes on what is sent to it; no log, no rights."""

from __future__ import annotations

from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path

GROUP = "bench.plain"

http = get_asgi_application()


class Passing(AsyncWebsocketConsumer):
    """One socket of the group."""

    async def connect(self) -> None:
        """Join."""
        await self.channel_layer.group_add(GROUP, self.channel_name)
        await self.accept()

    async def disconnect(self, code: int) -> None:
        """Leave."""
        await self.channel_layer.group_discard(GROUP, self.channel_name)

    async def told(self, message: dict[str, Any]) -> None:
        """Pass one message on."""
        await self.send(text_data=message["text"])


application = ProtocolTypeRouter(
    {"http": http, "websocket": URLRouter([path("ws/v1/stream", Passing.as_asgi())])}
)
