"""A websocket client inside the process: speaks ASGI to the stream, frame by frame."""

from __future__ import annotations

import json
from typing import Any

from asgiref import testing

DEADLINE_S = 5.0


class Socket(testing.ApplicationCommunicator):
    """One socket to the stream, opened with headers."""

    def __init__(self, application: Any, headers: list[tuple[bytes, bytes]]) -> None:
        scope = {
            "type": "websocket",
            "path": "/ws/v1/stream",
            "query_string": b"",
            "headers": headers,
            "subprotocols": [],
        }
        super().__init__(application, scope)

    async def connect(self) -> bool:
        """Open; say whether the server accepted."""
        await self.send_input({"type": "websocket.connect"})
        return bool((await self.receive_output(DEADLINE_S))["type"] == "websocket.accept")

    async def send_text(self, text: str) -> None:
        """Send one text frame."""
        await self.send_input({"type": "websocket.receive", "text": text})

    async def send(self, **frame: Any) -> None:
        """Send one frame."""
        await self.send_text(json.dumps(frame))

    async def receive(self) -> dict[str, Any]:
        """Return the next frame."""
        message = await self.receive_output(DEADLINE_S)
        assert message["type"] == "websocket.send", message
        frame: dict[str, Any] = json.loads(message["text"])
        return frame

    async def ask(self, **frame: Any) -> dict[str, Any]:
        """Send a frame and return the answer."""
        await self.send(**frame)
        return await self.receive()

    async def until(self, kind: str) -> dict[str, Any]:
        """Return the next frame of one type, answering pings on the way."""
        while (frame := await self.receive())["type"] != kind:
            await self.send(type="pong")
        return frame

    async def next_numbers(self) -> list[int]:
        """Return the numbers of the next batch that has events."""
        while not (events := (await self.until("events"))["events"]):
            pass
        return [event["number"] for event in events]

    async def close_code(self) -> int:
        """Wait until the server closes; what comes before is read over."""
        while (message := await self.receive_output(DEADLINE_S))["type"] != "websocket.close":
            pass
        return int(message.get("code", 1000))

    async def disconnect(self) -> None:
        """Close from the client's side, and wait for the consumer to end."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(DEADLINE_S)
