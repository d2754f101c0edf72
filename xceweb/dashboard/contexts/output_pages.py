"""Pages of a session's whole output, as its node sends them."""

from __future__ import annotations

from typing import Any
from urllib import parse

from django import urls

from scheduler import models
from scheduler.selectors import explanations
from scheduler.services import output_pages
from xceweb.common import visible, wording

_STEP = output_pages.PAGE_BYTES
#: Bytes of the last lines that agents send by themselves.
TAIL_BYTES = 8192


#: The last lines of one node.
Kept = models.SessionOutput | models.RankOutput


def nodes(row: models.Session, *, rank: int) -> list[dict[str, Any]]:
    """Return the nodes whose output may be chosen, none where there is only one."""
    names = explanations.output_nodes(row)
    return [
        {"name": name, "rank": place, "url": _url(row, rank=place), "is_shown": place == rank}
        for place, name in enumerate(names)
        if len(names) > 1
    ]


def page(row: models.Session, kept: Kept, *, offset: int, rank: int = 0) -> dict[str, Any]:
    """Return a page as ``_output.html`` draws it; one that has not come yet is looked for again by the page itself."""
    found = output_pages.ask(row, offset=offset, rank=rank)
    size = max(kept.size, found.size if found else 0)
    links = {
        "size_text": wording.amount(size, "mem"),
        "is_cut": False,
        "earlier_url": _url(row, max(0, offset - _STEP), rank=rank) if offset else "",
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
    later = _url(row, None if is_last else found.next_offset, rank=rank)
    note = f"Bytes {offset} to {found.next_offset} of {found.size}, as they lie on the node."
    return {**links, "state": "kept", "text": visible.text(found.text), "note": note, "later_url": later}


def before(row: models.Session, size: int, *, rank: int = 0) -> str:
    """Return the address of the page that ends where the last lines begin, or nothing when they are all."""
    return _url(row, max(0, size - TAIL_BYTES - _STEP), rank=rank) if size > TAIL_BYTES else ""


def _url(row: models.Session, offset: int | None = None, *, rank: int) -> str:
    asked = {"offset": offset} if offset is not None else {}
    asked |= {"rank": rank} if rank else {}
    path = urls.reverse("dashboard:session-tab", args=[row.public_id, "output"])
    return f"{path}?{parse.urlencode(asked)}" if asked else path
