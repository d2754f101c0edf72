"""
Many sockets in a process of their own: `python -m bench.sockets PORT COUNT ASKS`, cookies on standard input, in a line.

With ASKS = 1 each subscribes and waits for the answer. Says `open` once all are, and at the end of its input writes
what each was told: `[seconds, numbers]` of each frame.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time

from websockets.asyncio import client

Told = list[tuple[float, list[int]]]
#: Sockets that are opened at once.
_AT_ONCE = 20


async def main(port: int, count: int, *, asks: bool) -> None:
    """Open them, listen until the input ends, report."""
    cookies = itertools.cycle(sys.stdin.readline().split())
    told: list[Told] = [[] for _ in range(count)]
    gate, listeners = asyncio.Semaphore(_AT_ONCE), list[asyncio.Task[None]]()

    async def open_one(mine: Told) -> None:
        async with gate:
            socket = await client.connect(
                f"ws://127.0.0.1:{port}/ws/v1/stream",
                origin=f"http://127.0.0.1:{port}",
                additional_headers={"Cookie": next(cookies)},
                max_queue=None,
                open_timeout=60,
                proxy=None,
            )
            if asks:
                await socket.send('{"type":"subscribe","topic":"cluster","after":null}')
                await socket.recv()
        listeners.append(asyncio.create_task(_listen(socket, mine)))

    await asyncio.gather(*(open_one(mine) for mine in told))
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in listeners:
        task.cancel()
    json.dump(told, sys.stdout)


async def _listen(socket: client.ClientConnection, mine: Told) -> None:
    async for text in socket:
        now = time.monotonic()
        frame = json.loads(text)
        if frame["type"] == "ping":
            await socket.send('{"type":"pong"}')
        elif frame["type"] == "events":
            mine.append((now, [event["number"] for event in frame["events"]]))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), asks=sys.argv[3] == "1"))
