"""Pages of a session's whole output, as its node sends them."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.services import output_pages
from xceweb.common import visible, wording

_STEP = output_pages.PAGE_BYTES
#: Bytes of the last lines that agents send by themselves.
TAIL_BYTES = 8192


def page(row: models.Session, kept: models.SessionOutput, *, offset: int) -> dict[str, Any]:
    """Return a page as ``_output.html`` draws it; one that has not come yet is looked for again by the page itself."""
    found = output_pages.ask(row, offset=offset)
    size = max(kept.size, found.size if found else 0)
    links = {
        "size_text": wording.amount(size, "mem"),
        "is_cut": False,
        "earlier_url": _url(row, max(0, offset - _STEP)) if offset else "",
        "later_url": "",
        "download_url": "",
    }
    if found is None or found.came_at is None:
        note = f"Asked the node for the bytes from {offset}. Nothing comes from a node that is silent."
        return {**links, "state": "live", "text": "", "note": note}
    if found.is_gone:
        note = "The node does not keep this output any more; the last lines are what is left."
        return {**links, "state": "gone", "note": note}
    is_last = found.next_offset >= found.size
    later = _url(row, found.next_offset) if not is_last else _tail_url(row)
    note = f"Bytes {offset} to {found.next_offset} of {found.size}, as they lie on the node."
    return {**links, "state": "kept", "text": visible.text(found.text), "note": note, "later_url": later}


def before(row: models.Session, size: int) -> str:
    """Return the address of the page that ends where the last lines begin, or nothing when they are all."""
    return _url(row, max(0, size - TAIL_BYTES - _STEP)) if size > TAIL_BYTES else ""


def _url(row: models.Session, offset: int) -> str:
    return f"{_tail_url(row)}?offset={offset}"


def _tail_url(row: models.Session) -> str:
    return urls.reverse("dashboard:session-tab", args=[row.public_id, "output"])
