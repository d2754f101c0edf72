"""
Rules of a group that change at a time, or for a while and then go back by themselves.

A plan is one row; the reconciler carries it out in the transaction that ends it, so it happens exactly once, however
often it looks and whatever dies in between. What somebody changes meanwhile is never overwritten: such a plan ends, and
says so.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from typing import Any

from scheduler import clock, errors, models
from scheduler.selectors import permissions
from scheduler.services import actors, audit, checks, plan_ends, policies, policy_guards
from scheduler.services import work as unit

log = logging.getLogger(__name__)
Kind, End = models.PlannedChange.Kind, models.PlannedChange.End
#: No plan reaches further than this, seconds: a year.
LONGEST_S = 366 * 86_400
SUBJECT = "planned change of rules"


@dataclasses.dataclass(frozen=True, slots=True)
class When:
    """When a change is in force: from now or from ``at`` on, for ever or for ``for_s`` seconds."""

    at: datetime.datetime | None = None  #: aware; None = now
    for_s: int | None = None  #: None = it stays


NOW = When()


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What a change came to: a new version at once, a plan for later, or both."""

    version: models.PolicyVersion | None
    plan: models.PlannedChange | None


def change(
    actor: actors.Actor,
    group: models.ResourceGroup,
    wish: policies.Wish,
    when: When = NOW,
    assent: policy_guards.Assent | None = None,
) -> Outcome:
    """
    Put rules into force now or later, for good or for a while.

    Args:
        assent: what a person, or a program for them, gave; None = the code itself asks, unguarded.

    Raises:
        LogInAgain, NameIt: the assent is not enough.
        NotAllowed, Conflict, Refusal: as ``policies.change_policy``.
        Refusal: the time is not possible, or another change is planned already.
    """
    policies.require_manager(actor, group, "change the rules of")
    if assent is not None:
        policy_guards.require(group, wish, assent)
    with unit.begin(actor) as work:
        _check_times(when, work.now)
        if when.at is not None:
            return Outcome(None, _plan(work, group, wish, when))
        if when.for_s is None:
            return Outcome(policies.apply(work, group, wish), None)
        return _apply_for(work, group, wish, for_s=when.for_s)


def _check_times(when: When, now: datetime.datetime) -> None:
    faults: dict[str, str] = {}
    if when.at is not None and not now < when.at <= now + datetime.timedelta(seconds=LONGEST_S):
        faults["at"] = "must be in the future, and within a year"
    if when.for_s is not None and not 1 <= when.for_s <= LONGEST_S:
        faults["for_s"] = f"must be at least 1 and at most {LONGEST_S} seconds, a year"
    if faults:
        raise errors.Refusal(code="invalid", fields=faults)


def _plan(
    work: unit.Work, group: models.ResourceGroup, wish: policies.Wish, when: When
) -> models.PlannedChange:
    """Write down what is to happen later; it is checked now as if it happened now."""
    locked, current = policies.lock(group)
    if wish.expected_version not in (None, current.version):
        text = f"{current.created_by_name} changed the rules of {group.slug} meanwhile."
        raise errors.Conflict(f"{text[:-1]} (version {current.version}).", current=current)
    reason = checks.checked_reason(wish.reason)
    draft = policies.draft(current, wish.changes)
    changed = policies.changed_rules(current, draft)
    _require_none_open(locked)
    values = {name: getattr(draft, name) for name in changed}
    assert when.at is not None
    plan = _create(work, current, Kind.CHANGE, at=when.at, changes=values, reason=reason, for_s=when.for_s)
    facts = {"at": when.at.isoformat(), "for_s": when.for_s}
    before = {name: getattr(current, name) for name in changed}
    subject = audit.Subject(SUBJECT, locked.slug, locked)
    audit.record_change(work, subject, before=before, after={**values, **facts}, reason=reason)
    work.tell("group.change_planned", group_id=locked.pk, after=values, reason=reason, **facts)
    return plan


def _require_none_open(group: models.ResourceGroup) -> None:
    if plan := plan_ends.open_plan(group.pk):
        text = f"{plan.created_by_name} has planned another change of {group.slug}: cancel that one first."
        raise errors.Refusal(text, code="already-planned")


def _create(work: unit.Work, row: models.PolicyVersion, kind: str, **values: Any) -> models.PlannedChange:
    return models.PlannedChange.objects.create(
        group_id=row.group_id,
        kind=kind,
        version=row,
        duration_s=values.pop("for_s", None),
        request_id=work.actor.request_id,
        created_by=work.actor.user,
        created_by_name=work.actor.name,
        created_at=work.now,
        **values,
    )


def _apply_for(work: unit.Work, group: models.ResourceGroup, wish: policies.Wish, *, for_s: int) -> Outcome:
    """Put rules into force, and plan the way back to what each of them was."""
    _, before = policies.lock(group)
    row = policies.apply(work, group, dataclasses.replace(wish, facts={"for_s": for_s}))
    _require_none_open(group)
    return Outcome(row, _plan_return(work, before, row, for_s=for_s))


def _plan_return(
    work: unit.Work, before: models.PolicyVersion, row: models.PolicyVersion, *, for_s: int
) -> models.PlannedChange:
    at = work.now + datetime.timedelta(seconds=for_s)
    values = {name: getattr(before, name) for name in policies.changed_rules(before, row)}
    plan = _create(work, row, Kind.RETURN, at=at, changes=values, reason=row.reason, for_s=for_s)
    work.tell("group.return_planned", group_id=row.group_id, at=at.isoformat(), for_s=for_s, after=values)
    return plan


def cancel(actor: actors.Actor, group: models.ResourceGroup, *, reason: str) -> models.PlannedChange:
    """
    Take back what is planned for a group; what is in force stays.

    Raises:
        NotAllowed: the actor is not a manager of the group.
        Refusal: nothing is planned, or the reason is missing.
    """
    policies.require_manager(actor, group, "cancel planned changes of")
    reason = checks.checked_reason(reason)
    with unit.begin(actor) as work:
        locked, _ = policies.lock(group)
        plan = plan_ends.open_plan(locked.pk)
        if plan is None:
            text = "Nothing is planned any more: it was carried out, cancelled or overtaken."
            raise errors.Refusal(text, code="no-change")
        before = {**plan.changes, "at": plan.at.isoformat(), "for_s": plan.duration_s}
        subject = audit.Subject(SUBJECT, locked.slug, locked)
        audit.record_change(work, subject, before=before, after={}, reason=reason)
        plan_ends.close(work, plan, End.CANCELLED, text=reason)
    return plan


def carry_out_due() -> None:
    """Carry out every plan whose moment has come; one that fails for a while is tried again at the next look."""
    due = models.PlannedChange.objects.filter(ended_at=None, at__lte=clock.now())
    for plan in list(due.select_related("group", "created_by", "version").order_by("at", "pk")):
        carry_out(plan)


def carry_out(plan: models.PlannedChange) -> bool:
    """Carry out one plan, unless it has ended meanwhile; say whether this call did."""
    with unit.begin(_actor(plan)) as work:
        locked, _ = policies.lock(plan.group)
        current = plan_ends.open_plan(locked.pk)
        if current is None or current.pk != plan.pk:
            return False
        try:
            _carry_out(work, locked, current)
        except errors.Refusal as refusal:
            log.warning("planned change %s of %s: %s", plan.pk, locked.slug, refusal)
            plan_ends.close(work, current, End.FAILED, text=str(refusal))
            return False
    return True


def _actor(plan: models.PlannedChange) -> actors.Actor:
    """A way back is the machine's; a planned change is still that of the person, or the command, that planned it."""
    if plan.kind == Kind.RETURN:
        return actors.Actor(None, "automatic", plan.request_id)
    return actors.Actor(plan.created_by, plan.created_by_name, plan.request_id)


def _carry_out(work: unit.Work, group: models.ResourceGroup, plan: models.PlannedChange) -> None:
    """Do it and end the plan; nothing is written before the last refusal."""
    if plan.kind == Kind.CHANGE and not plan.created_by_name.startswith(actors.COMMAND):
        _require_still_manager(plan)
    for_s = plan.duration_s if plan.kind == Kind.CHANGE else None
    facts = {} if for_s is None else {"for_s": for_s}
    _, before = policies.lock(group)
    wish = policies.Wish(plan.changes, _reason(plan), None, facts=facts, plan_id=plan.pk)
    row = policies.apply(work, group, wish)
    plan_ends.close(work, plan, End.DONE)
    if for_s is not None:
        _plan_return(work, before, row, for_s=for_s)


def _require_still_manager(plan: models.PlannedChange) -> None:
    """Raise Refusal if who planned it may not do it any more."""
    person = plan.created_by
    if person is None or not permissions.can_change_policy(person, plan.group):
        raise errors.NotAllowed(f"{plan.created_by_name} may no longer change these rules")


def _reason(plan: models.PlannedChange) -> str:
    if plan.kind == Kind.CHANGE:
        return plan.reason
    after = _span(plan.duration_s or 0)
    text = (
        f"Back after {after}, as {plan.created_by_name} set in version {plan.version.version}: {plan.reason}"
    )
    return text if len(text) <= 500 else f"{text[:499]}…"


def _span(seconds: int) -> str:
    """Write a span in the largest unit that it is a whole number of: ``2 hours``, ``90 minutes``."""
    units = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    word, size = next(unit for unit in units if seconds % unit[1] == 0)
    number = seconds // size
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
