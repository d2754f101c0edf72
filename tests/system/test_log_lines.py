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


def _submit(stack: stacks.Stack, request_id: str) -> str:
    """Submit a session as a program does; returns its id."""
    issued = stack.manage("keypairs", "alice", "--issue", "followed")
    assert issued.returncode == 0, issued.stderr
    pair = ":".join(re.findall(r"^(?:access key|secret) +(\S+)$", issued.stdout, re.MULTILINE))
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


def test_a_submit_is_followed_from_the_page_to_the_agent_and_back(stack):
    request_id = f"followed-{uuid.uuid4().hex[:8]}"

    session = _submit(stack, request_id)

    def about(name: str, word: str) -> dict[str, Any] | None:
        found = [
            line for line in _lines(stack, name) if line.get("session") == session and word in line["message"]
        ]
        return found[0] if found else None

    stacks.until(lambda: about("worker", "reports ended"), what="the report of its end")
    submitted, sent = about("web", "submitted"), about("worker", "sends start")
    taken, started = about("agent", "takes start"), about("worker", "reports started")
    assert submitted["request_id"] == request_id
    assert any(line.get("request_id") == request_id for line in _lines(stack, "worker"))
    assert re.fullmatch(r"batch/\d+", sent["round"])
    assert taken["command"] == sent["command"]
    assert started["session"] == session
    request = [line for line in _lines(stack, "web") if line["logger"] == "xce.request"]
    assert any(line["request_id"] == request_id and " 201 in " in line["message"] for line in request)


def test_no_line_of_the_web_server_is_without_its_form(stack):
    text = (stack.data_dir / "log" / "web.log").read_text()

    assert [line for line in text.splitlines() if not line.startswith("{")] == []
