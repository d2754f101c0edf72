"""
Topics that a client may subscribe to, and how far each subscription has got.

``cluster``, ``group:<slug>``, ``session:<public id>``, ``user:me``, ``decisions``. A topic only narrows what the
viewer may see anyway; whether the named group or session exists for this viewer is asked of ``permissions``.
"""

from __future__ import annotations

import dataclasses
import re
import uuid
from collections.abc import Callable

from scheduler import errors, models
from scheduler.selectors import event_log, permissions

_GROUP = re.compile(r"group:([-a-zA-Z0-9_]{1,50})\Z")
_SESSION = re.compile(r"session:([0-9a-fA-F-]{36})\Z")


class BadTopic(errors.Refusal):
    """There is no such topic: write cluster, user:me, decisions, group:<name> or session:<id>."""

    code = "bad-topic"


@dataclasses.dataclass(slots=True)
class Subscription:
    """
    One topic of one socket.

    ``sent`` is the ``last`` that the client holds; ``scanned`` is how far the log was read for it. They
    differ while nothing that the viewer may see was found.
    """

    topic: str
    wants: Callable[[event_log.Entry], bool]
    sent: int
    scanned: int


def matcher(viewer: models.User, topic: str) -> Callable[[event_log.Entry], bool]:
    """
    Return the test whether an entry belongs to a topic.

    Raises:
        BadTopic: not one of the five forms.
        NotVisible: the named group or session does not exist for this viewer.
    """
    if topic == "cluster":
        return lambda entry: True
    if topic == "user:me":
        return lambda entry: entry.owner_id == viewer.pk
    if topic == "decisions":
        return lambda entry: entry.type.startswith("decision.")
    group, session = _GROUP.match(topic), _SESSION.match(topic)
    if group:
        found = permissions.require_group(viewer, group[1])
        return lambda entry: entry.group_id == found.pk
    if session and _is_uuid(session[1]):
        row = permissions.require_session(viewer, session[1])
        return lambda entry: entry.session_id == row.pk or row.pk in entry.victim_ids
    raise BadTopic


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
