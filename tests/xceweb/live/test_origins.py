"""Full origins: scheme, host and port."""

from __future__ import annotations

from typing import Any

import pytest

from xceweb.live import origins


def scope(origin: str, *, host: str = "xce.example:8443", scheme: str = "wss") -> dict[str, Any]:
    """Return the scope of a handshake."""
    headers = [(b"origin", origin.encode()), (b"host", host.encode())]
    return {"type": "websocket", "scheme": scheme, "headers": headers}


@pytest.fixture(autouse=True)
def _hosts(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["xce.example"]
    settings.PUBLIC_URL = "https://public.example"


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        ("https://xce.example:8443", True),
        ("https://public.example", True),
        ("https://public.example:443", True),
        ("http://public.example", False),
        ("https://public.example:444", False),
        ("https://xce.example", False),
        ("https://xce.example.evil.example:8443", False),
        ("https://evil.example", False),
        ("null", False),
        ("", False),
        ("https://xce.example:port", False),
    ],
)
def test_an_origin_is_compared_whole(origin: str, is_allowed: bool) -> None:
    """The public address and the one that served the page; nothing that only looks alike."""
    assert origins.is_allowed(scope(origin)) is is_allowed


def test_a_host_that_is_not_allowed_vouches_for_nobody() -> None:
    """A forged Host header does not make its own origin good."""
    assert not origins.is_allowed(scope("https://evil.example", host="evil.example"))


def test_a_handshake_without_an_origin_is_refused() -> None:
    """Browsers always send one."""
    assert not origins.is_allowed({"type": "websocket", "headers": [(b"host", b"xce.example")]})
