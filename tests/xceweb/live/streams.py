"""A reader of the stream over HTTP inside the process: speaks ASGI to the pages' own application."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from asgiref import testing

DEADLINE_S = 5.0


class Stream(testing.ApplicationCommunicator):
    """One request for events with ``Accept: text/event-stream``."""

    def __init__(self, application: Any, query: str, headers: Mapping[str, str]) -> None:
        sent = {"host": "testserver", "accept": "text/event-stream", **headers}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "path": "/api/v1/events",
            "query_string": query.encode(),
            "headers": [
                (name.replace("_", "-").lower().encode(), text.encode()) for name, text in sent.items()
            ],
            "client": ("192.0.2.7", 40000),
        }
        super().__init__(application, scope)
        self.status = 0
        self.headers: dict[str, str] = {}
        self._text = ""

    async def begin(self) -> None:
        """Send the request, and read the head of the answer."""
        await self.send_input({"type": "http.request", "body": b"", "more_body": False})
        head = await self.receive_output(DEADLINE_S)
        self.status = head["status"]
        self.headers = {name.decode().lower(): text.decode() for name, text in head["headers"]}

    async def message(self) -> dict[str, Any]:
        """Return the next message: its event, its id, and its data read as JSON; a comment is one without event."""
        while "\n\n" not in self._text:
            self._text += await self._part()
        text, _, self._text = self._text.partition("\n\n")
        fields = dict(line.split(": ", 1) for line in text.split("\n"))
        found: dict[str, Any] = {"event": fields.get("event", ""), "id": int(fields.get("id", -1))}
        return {**found, "data": json.loads(fields.get("data", "{}")), "comment": fields.get("", "")}

    async def until(self, event: str) -> dict[str, Any]:
        """Return the next message of one kind."""
        while (found := await self.message())["event"] != event:
            pass
        return found

    async def next_numbers(self) -> list[int]:
        """Return the numbers of the next batch that has events."""
        while not (events := (await self.until("events"))["data"]["events"]):
            pass
        return [event["number"] for event in events]

    async def body(self) -> Any:
        """Return the whole answer, read as JSON."""
        text = ""
        while True:
            part = await self.receive_output(DEADLINE_S)
            text += part.get("body", b"").decode()
            if not part.get("more_body"):
                return json.loads(text)

    async def has_ended(self) -> bool:
        """Say whether the server has closed the answer: nothing but its end is left to be read."""
        part = await self.receive_output(DEADLINE_S)
        return not part.get("more_body", False) and not part.get("body")

    async def leave(self) -> None:
        """Go away without a word."""
        await self.send_input({"type": "http.disconnect"})
        await self.wait(DEADLINE_S)

    async def _part(self) -> str:
        part = await self.receive_output(DEADLINE_S)
        assert part["type"] == "http.response.body", part
        assert part.get("more_body"), "the stream has ended"
        text: str = part["body"].decode()
        return text
