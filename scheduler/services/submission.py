"""
Submit a session: every rule is checked here, all faults are reported at once, and nothing is half done.

The same check answers the page's dry run, the API and the trace command.
"""

from __future__ import annotations

import logging

from scheduler import errors, logs, models, points
from scheduler.core import states
from scheduler.services import (
    actors,
    faults,
    locks,
    request_rights,
    request_values,
    sayable,
    session_requests,
)
from scheduler.services import work as unit

log = logging.getLogger(__name__)

#: What a person asks for; kept here as well, because every caller of ``submit_session`` needs it.
SubmitRequest = session_requests.SubmitRequest
Checked = session_requests.Checked
split_command = session_requests.split_command


def submit_session(actor: actors.Actor, request: session_requests.SubmitRequest) -> models.Session:
    """
    Submit a session for the actor; it is PENDING, and a round is asked for.

    Raises:
        Refusal: with a sentence per field; nothing was written.
        NotVisible: the group is not one that the actor may see.
    """
    with unit.begin(actor) as work:
        locks.share_caps()
        checked = check(actors.with_policies_now(actor), request)
        session = models.Session.objects.create(
            owner=checked.owner,
            queue=checked.queue,
            group=checked.group,
            state=states.SessionState.PENDING.value,
            state_since=work.now,
            submitted_at=work.now,
            **checked.columns,
        )
        for kind, other in checked.dependencies:
            models.SessionDependency.objects.create(session=session, other=other, kind=kind)
        work.tell(
            "session.submitted",
            session=session,
            queue=checked.queue.slug,
            priority=session.priority,
            slots=session.slots,
        )
        work.ask_round(checked.group.pk)
        points.reach("submit.written")
    log.info("submitted to %s", checked.group.slug, extra=logs.about(session=session.public_id))
    return session


def check_request(actor: actors.Actor, request: session_requests.SubmitRequest) -> dict[str, str]:
    """Return field -> what is wrong with it, empty when ``submit_session`` would accept the request."""
    try:
        check(actor, request)
    except errors.Refusal as refusal:
        return refusal.fields or {"": str(refusal)}
    return {}


def check(actor: actors.Actor, request: session_requests.SubmitRequest) -> session_requests.Checked:
    """
    Check a request whole.

    Raises:
        Refusal: every fault found, by field.
    """
    if actor.user is None:
        raise errors.Refusal("A session needs an owner: submit as a person.", code="no-owner")
    found = faults.Faults()
    group = request_rights.group_of(actor.user, request, found)
    queue = request_rights.queue_of(actor.user, request, group, found)
    columns = request_values.columns(request, found)
    if group is not None and queue is not None:
        columns |= request_rights.rights(actor, request, group=group, queue=queue, found=found)
    dependencies = request_rights.dependencies(actor.user, request, found)
    found.raise_if_any()
    assert group is not None
    assert queue is not None
    sayable.check(columns, group=group, found=found)
    found.raise_if_any()
    return session_requests.Checked(actor.user, group, queue, columns, dependencies)
