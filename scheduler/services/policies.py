"""
Change a group's rules: a new version, an audit row and an event in one transaction.

The version that the form was made from must still be in force; a reason is required. Switching off takes back at once
whatever can be taken back (DESIGN 5.5, P05, P12).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from django.core import exceptions

from scheduler import errors, models
from scheduler.core import entities
from scheduler.core.preemption import eligibility
from scheduler.selectors import permissions
from scheduler.services import actors, audit, checks, claims, locks, plan_ends, withdrawals
from scheduler.services import work as unit

RULES = models.PolicyVersion.RULES


def change_policy(
    actor: actors.Actor,
    group: models.ResourceGroup,
    *,
    changes: dict[str, Any],
    reason: str,
    expected_version: int,
) -> models.PolicyVersion:
    """
    Put new rules into force; effective at the next round.

    Args:
        changes: field of ``PolicyVersion.RULES`` -> new value; the others stay.
        reason: why, for everybody to read; at least 3 characters.
        expected_version: the version that the changes were made from.

    Raises:
        NotAllowed: the actor is not a manager of the group.
        Conflict: another version is in force; ``facts["current"]`` is it.
        Refusal: a value is not possible, nothing changes, or the reason is missing.
    """
    require_manager(actor, group, "change the rules of")
    with unit.begin(actor) as work:
        return apply(work, group, Wish(changes, reason, expected_version))


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to put into force."""

    changes: dict[str, Any]  #: field of ``PolicyVersion.RULES`` -> new value; the others stay
    reason: str
    expected_version: int | None  #: the version that the changes were made from; None = whatever is in force
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)  #: for the audit, beside the new values
    plan_id: int | None = None  #: the planned change that is being carried out


def apply(work: unit.Work, group: models.ResourceGroup, wish: Wish) -> models.PolicyVersion:
    """Put new rules into force as part of a work; raises as ``change_policy``, which asks for the right."""
    locked, current = lock(group)
    if wish.expected_version not in (None, current.version):
        raise errors.Conflict(
            f"{current.created_by_name} changed the rules of {group.slug} meanwhile (version {current.version}).",
            current=current,
        )
    row, before, after = _next_version(
        current, changes=wish.changes, reason=checks.checked_reason(wish.reason), work=work
    )
    row.save()
    locked.policy = row
    locked.save(update_fields=["policy"])
    plan_ends.overtake(work, locked, row, rules=set(after), except_id=wish.plan_id)
    subject = audit.Subject("resource group policy", locked.slug, locked)
    audit.record_change(work, subject, before=before, after={**after, **wish.facts}, reason=row.reason)
    _tell(work, locked, before=before, after=after, row=row)
    return row


def lock(group: models.ResourceGroup) -> tuple[models.ResourceGroup, models.PolicyVersion]:
    """Return a group, locked against other changes of its rules, and the version in force."""
    locked = models.ResourceGroup.objects.select_for_update(no_key=True).get(pk=group.pk)
    return locked, models.PolicyVersion.objects.get(pk=locked.policy_id)


def require_manager(actor: actors.Actor, group: models.ResourceGroup, what: str) -> None:
    """Raise NotVisible or NotAllowed unless the actor is a manager; ``what`` comes before the group's name."""
    if actor.user is None:
        return
    if not permissions.visible_groups(actor.user).filter(pk=group.pk).exists():
        raise errors.NotVisible("There is no such resource group, or you may not see it.")
    permissions.require(permissions.can_change_policy(actor.user, group), f"{what} {group.slug}")


def draft(current: models.PolicyVersion, changes: dict[str, Any]) -> models.PolicyVersion:
    """
    Return an unsaved version with the changes applied and checked, for a preview or a save.

    Raises:
        Refusal: an unknown field, or a value that is not possible.
    """
    unknown = sorted(set(changes) - set(RULES))
    if unknown:
        raise errors.Refusal(code="invalid", fields=dict.fromkeys(unknown, "there is no such rule"))
    values = {name: getattr(current, name) for name in RULES} | changes
    row = models.PolicyVersion(group_id=current.group_id, version=current.version + 1, **values)
    try:
        row.clean_fields(
            exclude={"group", "version", "reason", "created_by", "created_by_name", "created_at"}
        )
    except exceptions.ValidationError as error:
        fields = {name: " ".join(texts) for name, texts in error.message_dict.items()}
        raise errors.Refusal(code="invalid", fields=fields) from None
    _check_kinds(row)
    return row


def changed_rules(current: models.PolicyVersion, row: models.PolicyVersion) -> list[str]:
    """
    Return which rules differ between the version in force and a draft.

    Raises:
        Refusal: none.
    """
    changed = [name for name in RULES if getattr(row, name) != getattr(current, name)]
    if not changed:
        raise errors.Refusal("Nothing changes: these rules are in force already.", code="no-change")
    return changed


def _check_kinds(row: models.PolicyVersion) -> None:
    known = set(models.SlotKind.objects.values_list("name", flat=True))
    unknown = sorted(set(row.suspend_releases or ()) - known)
    if unknown:
        raise errors.Refusal(
            code="invalid", fields={"suspend_releases": f"unknown kinds: {', '.join(unknown)}"}
        )


def _next_version(
    current: models.PolicyVersion, *, changes: dict[str, Any], reason: str, work: unit.Work
) -> tuple[models.PolicyVersion, dict[str, Any], dict[str, Any]]:
    row = draft(current, changes)
    changed = changed_rules(current, row)
    row.reason = reason
    row.created_by, row.created_by_name = work.actor.user, work.actor.name
    row.created_at = work.now
    before = {name: getattr(current, name) for name in changed}
    return row, before, {name: getattr(row, name) for name in changed}


def _tell(
    work: unit.Work,
    group: models.ResourceGroup,
    *,
    before: dict[str, Any],
    after: dict[str, Any],
    row: models.PolicyVersion,
) -> None:
    if {"preemption_scope", "preemption_order"} & set(after):
        models.PreemptionEdge.objects.filter(loser__group=group).delete()
    _withdraw(work, group, before=before, row=row)
    if "starvation_after" in after and not row.starvation_after:
        claims.end_all(work, group)
    work.tell(
        "group.policy_changed",
        group_id=group.pk,
        changed=tuple(sorted(after)),
        before=before,
        after=after,
        reason=row.reason,
        version=row.version,
    )
    work.ask_round(group.pk)


def _withdraw(
    work: unit.Work, group: models.ResourceGroup, *, before: dict[str, Any], row: models.PolicyVersion
) -> None:
    """Take back what the new rules allow nobody to do: everything when off, else what one closed axis decided."""
    was_on = before.get("preemption_state", row.preemption_state) == entities.PreemptionState.ON
    is_off = row.preemption_state != entities.PreemptionState.ON
    closed = _axes(before.get("preemption_scope", row.preemption_scope)) - _axes(row.preemption_scope)
    if not was_on or not (is_off or closed):
        return
    reserved = models.Reservation.objects.filter(node__group=group)
    locks.together(reserved.values_list("session_id", flat=True))
    if is_off:
        withdrawals.all_under_way(work, group)
    else:
        for axis in sorted(closed):
            withdrawals.axis_closed(work, group, axis)


def _axes(scope: str) -> frozenset[entities.Axis]:
    return frozenset(eligibility.SCOPES[entities.PreemptionScope(scope)])
