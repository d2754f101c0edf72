"""The sample pages, and a scripted end of the live socket."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright import sync_api

from xceweb.stack import privileges

#: Notes what live.js tells the page; nothing else is changed.
RECORDER = """
window.told = [];
const dispatch = EventTarget.prototype.dispatchEvent;
EventTarget.prototype.dispatchEvent = function (event) {
  if (event.type.startsWith("xce:")) window.told.push([event.type, event.detail?.number ?? null]);
  return dispatch.call(this, event);
};
"""


class Stream:
    """The server's end of one page's sockets: frames that came in, and a way to send."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.sockets: list[sync_api.WebSocketRoute] = []
        self.is_blocked = False

    def open(self, socket: sync_api.WebSocketRoute) -> None:
        """Take the page's end of a new socket, or end it at once while sockets are blocked."""
        self.sockets.append(socket)
        if self.is_blocked:
            socket.close(code=1011)
            return
        socket.on_message(lambda text: self.frames.append(json.loads(text)))

    def send(self, **frame: Any) -> None:
        """Send one frame on the newest socket."""
        self.sockets[-1].send(json.dumps(frame))

    def block(self) -> None:
        """End the newest socket, and every one that follows."""
        self.is_blocked = True
        self.sockets[-1].close(code=1011)

    def batch(self, prev: int, *numbers: int, topic: str = "cluster", **more: Any) -> None:
        """Send a batch of events of one session in one group."""
        common = {
            "type": "session.started",
            "at": "2030-01-02T12:00:00+00:00",
            "session": "s1",
            "group": "gpu",
        }
        common |= {"text": "**s1** runs", "changed": [], "link": "/sessions/s1/", **more}
        events = [{**common, "number": number} for number in numbers]
        self.send(type="events", topic=topic, prev=prev, last=numbers[-1], events=events)

    def asked(self, topic: str) -> list[int | None]:
        """Return the numbers after which a topic was asked for, in order."""
        return [frame["after"] for frame in self.frames if frame.get("topic") == topic]


@pytest.fixture(scope="session")
def page_server() -> Iterator[str]:
    """The address of a process that serves the sample pages."""
    argv = [sys.executable, "-m", "tests.xceweb.common.page_server"]
    environment = {**os.environ, "PYTHONPATH": str(privileges.PROJECT)}
    with subprocess.Popen(
        argv, cwd=privileges.PROJECT, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture
def stream() -> Stream:
    """The server's end of the socket."""
    return Stream()


@pytest.fixture
def open_page(
    chromium: sync_api.Browser, page_server: str, stream: Stream
) -> Iterator[Callable[..., sync_api.Page]]:
    """A function that opens a sample page, with time under control when asked."""
    with contextlib.ExitStack() as stack:

        def open_(
            name: str, *, width: int = 1280, theme: str = "light", clock: bool = False
        ) -> sync_api.Page:
            context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(15_000)
            page.add_init_script(RECORDER)
            page.route_web_socket("**/ws/v1/stream", stream.open)
            if clock:
                page.clock.install()
            page.goto(f"{page_server}/pages/{name}/")
            return page

        yield open_
