"""What ``base.html`` needs on every page: the theme from the cookie."""

from __future__ import annotations

from django import http

from xceweb.common import theme


def page(request: http.HttpRequest) -> dict[str, str]:
    """Return ``theme``: auto, light or dark, so that the first byte already has the right colours."""
    return {"theme": theme.chosen(request)}
