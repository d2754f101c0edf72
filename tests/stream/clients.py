"""Readers of the stream that are cut off again and again: over websockets and HTTP, careful ones and a naive one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import websockets
from websockets.asyncio import client as websocket

from tests.stream import server

#: What a connection that is cut, refused or closed raises.
LOST = (OSError, EOFError, asyncio.IncompleteReadError, websockets.WebSocketException, TimeoutError)
_REST_S = (0.02, 0.2)


class Reader:
    """
    A client that does what docs/stream.md says: it holds one number, and asks again from it.

    Args:
        person: the name of whose cookie it shows.
        start: the number that it holds at the beginning.
        cut_s: seconds after which it is cut off, on average.
    """

    def __init__(
        self, of: server.Server, person: str, cookie: str, *, start: int, cut_s: float, seed: int
    ) -> None:
        self.person, self.held, self.got = person, start, list[int]()
        self.cuts = self.resyncs = self.gaps = 0
        self._server, self._cookie, self._cut_s = of, cookie, cut_s
        self._chance = random.Random(f"reader/{seed}")
        self._goal: int | None = None

    @property
    def is_done(self) -> bool:
        """Say whether it holds the last number that there will be."""
        return self._goal is not None and self.held >= self._goal

    def until(self, goal: int) -> None:
        """Read up to this number, then end."""
        self._goal = goal

    async def read(self) -> None:
        """Connect again and again until it is done."""
        while not self.is_done:
            with contextlib.suppress(*LOST):
                await self._read_for_a_while()
            self.cuts += 1
            await asyncio.sleep(self._chance.uniform(*_REST_S))

    async def _read_for_a_while(self) -> None:
        end = asyncio.get_running_loop().time() + self._chance.expovariate(1 / self._cut_s)
        async with asyncio.timeout_at(end), contextlib.aclosing(self._frames()) as frames:
            async for frame in frames:
                await self._take(frame)
                if self.is_done:
                    return

    def _frames(self) -> AsyncIterator[dict[str, Any]]:
        raise NotImplementedError

    async def _ask_again(self) -> None:
        """Ask for what lies between the number held and that of a frame."""

    async def _take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "resync":
            self.resyncs += 1
            await self._read_pages(frame["last"])
        elif frame["type"] == "events":
            await self._take_batch(frame)

    async def _take_batch(self, frame: dict[str, Any]) -> None:
        if frame["last"] <= self.held:
            return
        if frame["prev"] > self.held:
            self.gaps += 1
            await self._ask_again()
            return
        self.got += [event["number"] for event in frame["events"] if event["number"] > self.held]
        self.held = frame["last"]

    async def _read_pages(self, last: int) -> None:
        while self.held < last:
            async with self._asked(f"/events?after={self.held}", "application/json") as found:
                await self._take_batch(json.loads(await found.read()))

    @contextlib.asynccontextmanager
    async def _asked(self, path: str, accept: str) -> AsyncIterator[asyncio.StreamReader]:
        """Ask over HTTP 1.0, whose answer has no parts and ends with the connection; yields what follows its head."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        try:
            lines = [
                f"GET {path} HTTP/1.0",
                "Host: 127.0.0.1",
                f"Accept: {accept}",
                f"Cookie: {self._cookie}",
            ]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            head = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in head.partition(b"\r\n")[0]:
                raise ConnectionError(head.decode())
            yield reader
        finally:
            writer.transport.abort()


class SocketReader(Reader):
    """Over a websocket."""

    async def _frames(self) -> AsyncIterator[dict[str, Any]]:
        url = f"ws://127.0.0.1:{self._server.port}/ws/v1/stream"
        headers = {"Cookie": self._cookie}
        self._socket = await websocket.connect(
            url, origin=self._server.origin, additional_headers=headers, compression=None, proxy=None
        )
        try:
            await self._ask_again()
            async for text in self._socket:
                if text == '{"type":"ping"}':
                    await self._socket.send('{"type":"pong"}')
                yield json.loads(text)
        finally:
            self._socket.transport.abort()

    async def _ask_again(self) -> None:
        await self._subscribe(self.held)

    async def _subscribe(self, after: int | None) -> None:
        await self._socket.send(json.dumps({"type": "subscribe", "topic": "cluster", "after": after}))


class HttpReader(Reader):
    """Over Server-Sent Events; comes again with the id of its last message."""

    async def _frames(self) -> AsyncIterator[dict[str, Any]]:
        async with self._asked(f"/api/v1/events?after={self.held}", "text/event-stream") as found:
            while line := await found.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        raise ConnectionError("the server has closed the stream")


class NaiveReader(SocketReader):
    """Trusts its connection: subscribes from now on each time, as one does who was never told of numbers."""

    async def _ask_again(self) -> None:
        await self._subscribe(None)

    async def _take_batch(self, frame: dict[str, Any]) -> None:
        self.got += [event["number"] for event in frame["events"]]
        self.held = frame["last"]
