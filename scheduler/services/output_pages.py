"""
Pages of the whole output, asked of the node where it lies.

A request is sent directly and not kept: who still looks asks again. What comes is taken only for a page that was asked
for, from a node on which that attempt ran.
"""

from __future__ import annotations

import datetime
import logging
from typing import Any

from django.conf import settings

from scheduler import clock, ids, models
from scheduler.protocol import messages
from scheduler.services import commands

log = logging.getLogger(__name__)
PAGE_BYTES = 32_768
#: Seconds until an unanswered request is sent again, until the end of a growing output is asked for anew, and for which
#: pages are kept.
AGAIN_S, FRESH_S, KEPT_S = 5, 3, 3600


def ask(session: models.Session, *, offset: int, rank: int = 0) -> models.OutputPage | None:
    """
    Return a page of the newest attempt, come or not; its node is asked where that is due.

    Args:
        offset: first byte, >= 0.
        rank: place of the node in the run, >= 0.

    Returns:
        None when the session has not run anywhere, or not on so many nodes.
    """
    run = session.runs.order_by("attempt").last()
    if run is None or rank >= len(run.node_names):
        return None
    asked = {"asked_at": clock.now(), "request": ids.new_id()}
    page, is_new = models.OutputPage.objects.get_or_create(
        session=session, attempt=run.attempt, rank=rank, offset=offset, defaults=asked
    )
    if not is_new and _is_due(page):
        models.OutputPage.objects.filter(pk=page.pk).update(**asked)
        page.refresh_from_db()
        is_new = True
    if is_new:
        _send(run, session, page)
    return page


def _is_due(page: models.OutputPage) -> bool:
    age_s = (clock.now() - page.asked_at).total_seconds()
    if page.came_at is None or page.came_at < page.asked_at:
        return age_s >= AGAIN_S * settings.TIME_SCALE
    return page.next_offset >= page.size and age_s >= FRESH_S * settings.TIME_SCALE


def _send(run: models.Run, session: models.Session, page: models.OutputPage) -> None:
    node = models.Node.objects.filter(name=run.node_names[page.rank]).first()
    if node is None:
        return
    epoch = session.epoch if run.attempt == session.attempt else run.epoch
    request = messages.OutputRequest(
        command_id=str(page.request),
        session=str(session.public_id),
        epoch=epoch,
        offset=page.offset,
        limit=PAGE_BYTES,
    )
    try:
        commands.send_directly(node, request)
    except Exception as error:  # noqa: BLE001 - whatever a broker client raises: who looks asks again
        log.warning("a page of output was not asked of %s: %s", node.name, error)


def take(node: models.Node, report: messages.OutputPage | messages.Gone) -> bool:
    """
    Keep the answer to a request: a page, or that the node has no output of that run any more.

    Returns:
        Whether it answers a request of ours to a node of that run.
    """
    if not report.command_id:
        return False
    page = models.OutputPage.objects.filter(
        request=report.command_id, session__public_id=report.session
    ).first()
    if page is None:
        return False
    run = models.Run.objects.filter(session_id=page.session_id, attempt=page.attempt).first()
    if run is None or run.node_names[page.rank : page.rank + 1] != [node.name]:
        return False
    facts: dict[str, Any] = {"is_gone": True}
    if isinstance(report, messages.OutputPage):
        facts = {
            "text": report.data,
            "next_offset": report.next_offset,
            "size": report.size,
            "is_gone": False,
        }
    models.OutputPage.objects.filter(pk=page.pk).update(came_at=clock.now(), **facts)
    return True


def prune() -> int:
    """Forget pages that nobody has asked for within the hour; returns how many."""
    limit = clock.now() - datetime.timedelta(seconds=KEPT_S)
    return models.OutputPage.objects.filter(asked_at__lt=limit).delete()[0]
