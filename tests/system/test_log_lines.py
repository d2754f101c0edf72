"""One submit can be followed by its ids through the log lines of all processes that had to do with it."""

from __future__ import annotations

import base64
import json
import re
import urllib.request
import uuid
from typing import Any

import pytest

from tests.system import stack as stacks

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]


@pytest.fixture
def pair(stack: stacks.Stack) -> str:
    """A keypair of alice's, as a program names it."""
    issued = stack.manage("keypairs", "alice", "--issue", f"followed-{uuid.uuid4().hex[:8]}")
    assert issued.returncode == 0, issued.stderr
    return ":".join(re.findall(r"^(?:access key|secret) +(\S+)$", issued.stdout, re.MULTILINE))


def _submit(stack: stacks.Stack, pair: str, request_id: str) -> str:
    """Submit a session as a program does; returns its id."""
    body = {
        "name": "followed",
        "group": "batch",
        "queue": "normal",
        "argv": ["/bin/true"],
        "slots": {"cpu": "0.1"},
    }
    request = urllib.request.Request(
        f"{stack.base_url}/api/v1/sessions",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}",
            "Content-Type": "application/json",
            "X-Request-ID": request_id,
        },
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["id"]


def _lines(stack: stacks.Stack, name: str) -> list[dict[str, Any]]:
    """Return the JSON lines of the processes of one kind; others are the banners of servers."""
    texts = [path.read_text().splitlines() for path in (stack.data_dir / "log").glob(f"{name}*.log")]
    return [json.loads(line) for lines in texts for line in lines if line.startswith("{")]


def _followed(stack: stacks.Stack, pair: str) -> tuple[str, str]:
    """
    Submit until the round that a submit asked for was its own; returns request id and session.

    The beat's round may come before it, and then what was asked for finds nothing to do and writes nothing.
    """
    for _ in range(10):
        request_id = f"followed-{uuid.uuid4().hex[:8]}"
        session = _submit(stack, pair, request_id)
        stacks.until(
            lambda s=session: _about(stack, "worker", s, "reports ended"), what="the report of its end"
        )
        if any(line.get("request_id") == request_id for line in _lines(stack, "worker")):
            return request_id, session
    raise AssertionError("no line of a worker has the id of a request")


def _about(stack: stacks.Stack, name: str, session: str, word: str) -> dict[str, Any] | None:
    """Return the first line of the processes of one kind about a session with this word, if there is one."""
    found = (
        line for line in _lines(stack, name) if line.get("session") == session and word in line["message"]
    )
    return next(found, None)


def test_a_submit_is_followed_from_the_page_to_the_agent_and_back(stack, pair):
    request_id, session = _followed(stack, pair)

    submitted, sent = (
        _about(stack, *of) for of in (("web", session, "submitted"), ("worker", session, "sends start"))
    )
    taken = _about(stack, "agent", session, "takes start")
    assert submitted["request_id"] == request_id
    assert re.fullmatch(r"batch/\d+", sent["round"])
    assert taken["command"] == sent["command"]
    assert _about(stack, "worker", session, "reports started")
    request = [line for line in _lines(stack, "web") if line["logger"] == "xce.request"]
    assert any(line["request_id"] == request_id and " 201 in " in line["message"] for line in request)


def test_no_line_of_the_web_server_is_without_its_form(stack):
    text = (stack.data_dir / "log" / "web.log").read_text()

    assert [line for line in text.splitlines() if not line.startswith("{")] == []
