"""
What an administrator presses when something goes wrong: stop starting, and take back every preemption under way.

Both act on one resource group, need a reason, and are audited. Nothing that runs is touched, and a kill that has begun
goes on: it cannot be undone.
"""

from __future__ import annotations

from scheduler import errors, models
from scheduler.services import actors, audit, backoffs, checks, locks, policies, withdrawals
from scheduler.services import work as unit

CAUSE = "withdrawn by a person"


def stop_starting(actor: actors.Actor, group: models.ResourceGroup, *, reason: str) -> models.PolicyVersion:
    """
    Let nothing new start or resume in a group; what is being stopped for others there is taken back where it can be.

    Raises:
        NotAllowed: the actor is not a manager of the group.
        Refusal: no reason, or it is stopped already.
    """
    row = _set_starting(actor, group, is_starting=False, reason=reason)
    if models.Reservation.objects.filter(node__group=group, is_consumed=False).exists():
        _take_back(actor, group, reason=reason, cause="group stopped")
    return row


def start_again(actor: actors.Actor, group: models.ResourceGroup, *, reason: str) -> models.PolicyVersion:
    """
    Let sessions of a group start and resume again.

    Raises:
        NotAllowed: the actor is not a manager of the group.
        Refusal: no reason, or they start already.
    """
    return _set_starting(actor, group, is_starting=True, reason=reason)


def _set_starting(
    actor: actors.Actor, group: models.ResourceGroup, *, is_starting: bool, reason: str
) -> models.PolicyVersion:
    current = models.ResourceGroup.objects.select_related("policy").get(pk=group.pk).policy
    assert current is not None
    return policies.change_policy(
        actor, group, changes={"starting": is_starting}, reason=reason, expected_version=current.version
    )


def withdraw_all(actor: actors.Actor, group: models.ResourceGroup, *, reason: str) -> int:
    """
    Take back every preemption under way in a group, and let those sessions stop nobody there for a minute.

    Returns:
        The number of decisions taken back; one whose kill has begun stands.

    Raises:
        NotAllowed: the actor is not a manager of the group.
        Refusal: no reason, or nothing is under way.
    """
    policies.require_manager(actor, group, "take back the preemptions of")
    count = _take_back(actor, group, reason=checks.checked_reason(reason), cause=CAUSE)
    if not count:
        text = "Nothing can be taken back: no preemption is under way, or each has begun to kill."
        raise errors.Refusal(text, code="no-change")
    return count


def _take_back(actor: actors.Actor, group: models.ResourceGroup, *, reason: str, cause: str) -> int:
    with unit.begin(actor) as work:
        under_way = models.Reservation.objects.filter(node__group=group, is_consumed=False)
        holder_ids = set(under_way.values_list("session_id", flat=True))
        sessions = locks.together(holder_ids)
        count = withdrawals.all_under_way(work, group, cause=cause)
        standing = set(under_way.values_list("session_id", flat=True))
        node_ids = list(group.nodes.order_by("pk").values_list("pk", flat=True))
        for session_id in sorted(holder_ids - standing):
            backoffs.close(work, sessions[session_id], node_ids)
        if count:
            after = {"decisions": count, "standing": len(standing)}
            subject = audit.Subject("preemptions under way", group.slug, group)
            audit.record_change(work, subject, before={}, after=after, reason=reason)
            work.tell("group.withdrawn", group_id=group.pk, decisions=count, reason=reason)
        work.ask_round(group.pk)
    return count
