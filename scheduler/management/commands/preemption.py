"""`preemption`: show, set, plan or undo a group's rules, at once, at a time or for a while; cancel what is planned."""

from __future__ import annotations

import argparse
import datetime
import json
import re
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import dateparse

from scheduler import errors, models
from scheduler.selectors import policies as versions
from scheduler.selectors import rule_warnings
from scheduler.services import actors, planned_changes, policies, policy_guards, undoing

ACTOR = "preemption"
_SPAN = re.compile(r"(\d{1,9})([smhd]?)\Z")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Command(BaseCommand):
    """Work on the switch and the rules of one resource group."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        add = parser.add_argument
        add("verb", choices=tuple(_ACTS))
        add("group", help="name of the resource group")
        add("--state", choices=("off", "shadow", "on"), help="the switch")
        rule = (
            "a rule and its value, as JSON or a word: grace_period=20, max_suspend_time=null; may be repeated"
        )
        add("--rule", action="append", default=[], type=_rule, metavar="NAME=VALUE", help=rule)
        add("--reason", default="", help="why; everybody who is affected reads it")
        add("--at", type=_moment, help="when it is put into force: 2026-11-30T22:00Z (default now)")
        add("--for", dest="for_s", type=_span, help="after so long it goes back by itself: 90s, 30m, 2h, 1d")
        add(
            "--confirm",
            default="",
            metavar="GROUP",
            help="the group's name again, where many sessions would stop",
        )
        add("--expect", type=int, metavar="VERSION", help="only if this version is in force")

    def handle(self, *args: object, **options: Any) -> None:
        """Do it, audited under the name of this command."""
        group = models.ResourceGroup.objects.filter(slug=options["group"]).first()
        if group is None:
            raise CommandError(f"there is no group {options['group']!r}")
        try:
            self.stdout.write(_ACTS[options["verb"]](group, options))
        except (errors.Refusal, errors.Staleness) as error:
            faults = getattr(error, "fields", {})
            raise CommandError(
                "; ".join(f"{name}: {text}" for name, text in faults.items()) or str(error)
            ) from None


def _rule(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or name not in models.PolicyVersion.RULES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of: {', '.join(models.PolicyVersion.RULES)}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _moment(text: str) -> datetime.datetime:
    moment = dateparse.parse_datetime(text)
    if moment is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 2026-11-30T22:00Z")
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def _span(text: str) -> int:
    found = _SPAN.match(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no span such as 90s, 30m, 2h or 1d")
    return int(found[1]) * _UNITS[found[2]]


def _show(group: models.ResourceGroup, options: dict[str, Any]) -> str:
    row, plan = versions.current(group), versions.planned(group)
    lines = [f"version {row.version}, by {row.created_by_name}: {row.reason}"]
    lines += [f"{name} = {json.dumps(getattr(row, name))}" for name in models.PolicyVersion.RULES]
    if plan:
        lines.append(
            f"planned for {plan.at.isoformat()}, by {plan.created_by_name}: {json.dumps(plan.changes)}"
        )
    return "\n".join(lines)


def _set(group: models.ResourceGroup, options: dict[str, Any]) -> str:
    changes = dict(options["rule"])
    if options["state"]:
        changes["preemption_state"] = options["state"]
    wish = policies.Wish(changes, options["reason"], options["expect"])
    when = planned_changes.When(options["at"], options["for_s"])
    assent = policy_guards.Assent(is_fresh=True, confirm=options["confirm"])
    outcome = planned_changes.change(actors.of_command(ACTOR), group, wish, when, assent)
    lines = [f"careful: {text.replace('**', '')}" for text in _cautions(group, outcome)]
    if outcome.version:
        lines.append(f"{group.slug}: version {outcome.version.version} is in force")
    if outcome.plan:
        lines.append(f"{group.slug}: {outcome.plan.kind} planned for {outcome.plan.at.isoformat()}")
    return "\n".join(lines)


def _cautions(group: models.ResourceGroup, outcome: planned_changes.Outcome) -> list[str]:
    row = outcome.version
    if row is None or row.preemption_state == "off":
        return []
    return [caution.text for caution in rule_warnings.of(group, row)]


def _cancel(group: models.ResourceGroup, options: dict[str, Any]) -> str:
    plan = planned_changes.cancel(actors.of_command(ACTOR), group, reason=options["reason"])
    return f"{group.slug}: nothing changes at {plan.at.isoformat()} any more"


def _undo(group: models.ResourceGroup, options: dict[str, Any]) -> str:
    version = options["expect"] or versions.current(group).version
    assent = policy_guards.Assent(is_fresh=True, confirm=options["confirm"])
    row = undoing.undo(actors.of_command(ACTOR), group, undoing.Wish(version, options["reason"]), assent)
    return f"{group.slug}: version {version} is undone; version {row.version} is in force"


_ACTS = {"show": _show, "set": _set, "undo": _undo, "cancel-planned": _cancel}
