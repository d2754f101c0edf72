"""In what an answer is written: JSON, whatever a client says it would rather have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import exceptions, negotiation, renderers, request


class JsonAnyway(negotiation.DefaultContentNegotiation):
    """Chooses by the Accept header where it can, and else the first renderer: an error must reach a browser, too."""

    def select_renderer(
        self,
        request: request.Request,
        renderers: Sequence[renderers.BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[renderers.BaseRenderer, str]:
        """Return the renderer and its media type."""
        try:
            found: tuple[Any, str] = super().select_renderer(request, renderers, format_suffix)
        except exceptions.NotAcceptable:
            return renderers[0], renderers[0].media_type or ""
        return found
