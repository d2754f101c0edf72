"""What one help page says."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """Three short texts; each stands alone."""

    meaning: str
    user: str  #: what the owner of the session can do
    administrator: str  #: what operators, managers and administrators can do
