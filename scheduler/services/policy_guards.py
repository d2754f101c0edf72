"""
What stands between a person and a switch that stops others: a fresh log-in, and the group's name typed out.

Every way in asks here: page, API and command. Source: ECOSYSTEM D.2 (confirm).
"""

from __future__ import annotations

import dataclasses

from django.conf import settings

from scheduler import errors, models
from scheduler.core import entities
from scheduler.selectors import policies as versions
from scheduler.selectors import preview
from scheduler.services import policies

_ON = entities.PreemptionState.ON.value


class LogInAgain(errors.Refusal):
    """Your log-in is too old for this: prove who you are once more."""

    code = "log-in-again"
    status = 403


class NameIt(errors.Refusal):
    """Write the group's name: many sessions would be stopped."""

    code = "confirm"


@dataclasses.dataclass(frozen=True, slots=True)
class Assent:
    """How somebody stands to a change: proven who they are just now, and the name that they typed."""

    is_fresh: bool
    confirm: str = ""


def require(group: models.ResourceGroup, wish: policies.Wish, assent: Assent) -> None:
    """
    Let nobody switch on, or change what is on, without the assent that it takes.

    Raises:
        LogInAgain: it would be switched on, and the log-in is old.
        NameIt: more sessions than ``CONFIRM_ABOVE_VICTIMS`` would be stopped now, and the name was not typed.
        Refusal: a value is not possible.
    """
    current = versions.current(group)
    draft = policies.draft(current, wish.changes)
    if draft.preemption_state != _ON or not any(
        getattr(draft, name) != getattr(current, name) for name in wish.changes
    ):
        return
    if needs_fresh(current) and not assent.is_fresh:
        text = f"your log-in is older than {settings.FRESH_LOG_IN_MINUTES} minutes: write your password"
        raise LogInAgain(fields={"password": text})
    stops = preview.count_victims(group, wish.changes)
    if stops > settings.CONFIRM_ABOVE_VICTIMS and assent.confirm.strip() != group.slug:
        text = f"write {group.slug}: {stops} session{'' if stops == 1 else 's'} would be stopped now"
        raise NameIt(fields={"confirm": text})


def needs_fresh(current: models.PolicyVersion) -> bool:
    """Say whether switching this group on takes a fresh log-in: it is not on yet."""
    return current.preemption_state != _ON
