"""
Go back from the version of a group's rules that is in force to the one before it, as a version of its own.

Until a round has acted on a version, an undo takes it back as if it had never been: nobody was stopped by it. Later it
takes back what can be taken back, as switching off does.
"""

from __future__ import annotations

import dataclasses

from scheduler import errors, models
from scheduler.selectors import policies as versions
from scheduler.services import actors, plan_ends, policies, policy_guards
from scheduler.services import work as unit

RULES = models.PolicyVersion.RULES


class Acted(errors.Refusal):
    """A round has acted on these rules meanwhile."""

    code = "acted"
    status = 409


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """Which version is to be undone, and why."""

    version: int
    reason: str
    only_unacted: bool = False  #: not if a round has decided to stop somebody under it


def has_acted(row: models.PolicyVersion) -> bool:
    """Say whether a round has decided to stop somebody under these rules. One query."""
    decided = models.Decision.objects.filter(round__policy=row, kind=models.Decision.Kind.PREEMPT)
    return decided.exists()


def undo(
    actor: actors.Actor, group: models.ResourceGroup, wish: Wish, assent: policy_guards.Assent | None = None
) -> models.PolicyVersion:
    """
    Put the rules of the version before into force again.

    Args:
        assent: as of ``planned_changes.change``: an undo may switch on, too.

    Raises:
        NotVisible: there is no version before.
        NotAllowed: the actor is not a manager of the group.
        Conflict: another version is in force meanwhile.
        Acted: a round has stopped somebody under it, and the wish was to undo it only before that.
        Refusal: the reason is missing, or the assent is not enough.
    """
    policies.require_manager(actor, group, "change the rules of")
    newest = versions.current(group)
    if newest.version != wish.version:
        text = f"{newest.created_by_name} changed the rules of {group.slug} meanwhile (version {newest.version})."
        raise errors.Conflict(text, current=newest)
    before = versions.version(group, wish.version - 1)
    if before is None:
        raise errors.NotVisible("There is no version to go back to.")
    changes = {name: getattr(before, name) for name in RULES}
    back = policies.Wish(changes, wish.reason, wish.version)
    if assent is not None:
        policy_guards.require(group, back, assent)
    with unit.begin(actor) as work:
        _, current = policies.lock(group)
        if wish.only_unacted and has_acted(current):
            raise Acted(
                f"A round has acted on version {current.version} meanwhile: undo it from the history."
            )
        _end_its_plan(work, current)
        return policies.apply(work, group, back)


def _end_its_plan(work: unit.Work, current: models.PolicyVersion) -> None:
    """Cancel the way back of the very version that is undone: there is nothing left to go back from."""
    plan = plan_ends.open_plan(current.group_id)
    if plan and plan.kind == models.PlannedChange.Kind.RETURN and plan.version_id == current.pk:
        plan_ends.close(work, plan, plan_ends.End.CANCELLED, text=f"version {current.version} was undone")
