"""The policy tab of a group: switch, rules, history, and the difference when somebody was faster."""

from __future__ import annotations

import datetime
from typing import Any

from django import urls

from scheduler import clock, models
from scheduler.core.preemption import shipped
from scheduler.selectors import capacity, permissions, policies, victim_policies
from scheduler.services import policy_guards, undoing
from xceweb.console import extras, policy_form
from xceweb.console.contexts import planned, shadow_report
from xceweb.dashboard.contexts import capacity as capacity_context
from xceweb.dashboard.contexts import group_page


def load(
    viewer: models.User,
    group: models.ResourceGroup,
    form: policy_form.PolicyForm,
    *,
    sent: extras.Extras,
    with_history: bool = True,
) -> dict[str, Any]:
    """Return the context of ``console/group_policy.html``."""
    current = policies.current(group)
    group.policy = current
    can_change = permissions.can_change_policy(viewer, group)
    uses = capacity.of_nodes(models.Node.objects.filter(group=group), viewer=viewer) if with_history else []
    summary = capacity_context.summary(uses) if with_history else ""
    return {
        **group_page.head(group, summary=summary, current="policy"),
        "policy": _policy(current),
        "can_change": can_change,
        "hides_preview": not permissions.can_preview(viewer, group),
        "form": form,
        "rules": [_rule(form, name, current) for name in policy_form.FIRST],
        "more_rules": [
            _rule(form, name, current) for name in policy_form.TEXTS if name not in policy_form.FIRST
        ],
        "when": sent.when,
        "when_choice": sent.when.choice(),
        "assent": sent.assent,
        "asks_password": policy_guards.needs_fresh(current) and not sent.is_fresh,
        **planned.load(group, current),
        "undo": _undo(group, current) if with_history and can_change else None,
        "shadow": shadow_report.load(viewer, group) if with_history else None,
        "choosers": victim_policies.of_group(viewer, group) if with_history else [],
        "owner_policy": shipped.FOR_OWNERS,
        "may_choose": permissions.is_administrator(viewer),
        "preview": None,
        "conflict": None,
        "history": _history(group, current) if with_history else [],
        "history_more": None,
    }


def _policy(row: models.PolicyVersion) -> dict[str, Any]:
    return {
        "version": row.version,
        "state": row.preemption_state,
        "set_by": row.created_by_name,
        "set_at": row.created_at,
        "is_default": row.version == 1,
    }


def _rule(form: policy_form.PolicyForm, name: str, current: models.PolicyVersion) -> dict[str, Any]:
    label, effect, suffix = policy_form.TEXTS[name]
    field = form[name]
    in_force = policy_form.values(current)[name]
    widget = field.field.widget
    widget.attrs |= {"data-in-force": "" if in_force is None else str(in_force)}
    widget.attrs |= {"aria-describedby": f"{field.auto_id}_helptext"}
    return {
        "field": field,
        "label": label,
        "effect": effect,
        "origin": _origin(name, current),
        "is_changed": _written(field.value()) != _written(in_force),
        "suffix": suffix,
        "in_force": in_force,
    }


def _origin(name: str, current: models.PolicyVersion) -> str:
    """Say what is in force, and what the default is."""
    default = models.PolicyVersion._meta.get_field(name).get_default()
    value = getattr(current, name)
    shown = policy_form.text(name, value)
    if value == default:
        return f"In force: {shown}, the default"
    return f"In force: {shown}. Default: {policy_form.text(name, default)}"


def _written(value: Any) -> str:
    return "" if value is None else str(value)


def _history(group: models.ResourceGroup, current: models.PolicyVersion) -> list[dict[str, Any]]:
    return [_version(group, change, current) for change in policies.history(group)]


#: So long an undo is offered at the top of the page.
_OFFERED = datetime.timedelta(minutes=10)


def _undo(group: models.ResourceGroup, current: models.PolicyVersion) -> dict[str, Any] | None:
    """Return the way to take a change back at once, until a round has acted on it."""
    if current.version == 1 or current.created_at < clock.now() - _OFFERED or undoing.has_acted(current):
        return None
    return {
        "version": current.version,
        "at": current.created_at,
        "by": current.created_by_name,
        "url": urls.reverse("console:group-policy-undo", args=[group.slug, current.version]),
    }


def _version(
    group: models.ResourceGroup, change: policies.Change, current: models.PolicyVersion
) -> dict[str, Any]:
    row, switch = change.row, change.rules.get("preemption_state", ("", ""))
    may_undo = row.version == current.version and bool(change.rules)
    return {
        "version": row.version,
        "at": row.created_at,
        "who": row.created_by_name,
        "from_state": switch[0],
        "to_state": switch[1],
        "changes": [_told(name, pair) for name, pair in change.rules.items() if name != "preemption_state"],
        "reason": row.reason,
        "undo_url": urls.reverse("console:group-policy-undo", args=[group.slug, row.version])
        if may_undo
        else "",
    }


def _told(name: str, pair: tuple[Any, Any]) -> str:
    before, after = (policy_form.text(name, value) for value in pair)
    return f"{policy_form.label(name)}: {before} to {after}"


def conflicting(
    viewer: models.User,
    group: models.ResourceGroup,
    form: policy_form.PolicyForm,
    sent: extras.Extras,
) -> dict[str, Any]:
    """
    Return the page after somebody was faster: nothing was saved, and the form now stands on the newer
    version.

    Where the two changes do not collide the sent values stay in the form; where they do, both are shown.
    """
    base, mine, theirs = form.current, form.changes(), policies.current(group)
    changed = policies.difference(base, theirs)
    merged = {
        **policy_form.values(theirs),
        **{name: form.data.get(name, "") for name in mine if name not in changed},
    }
    renewed = policy_form.PolicyForm(theirs)
    renewed.initial |= merged | {"version": theirs.version, "reason": form.data.get("reason", "")}
    return {**load(viewer, group, renewed, sent=sent), "conflict": _conflict(base, theirs, (mine, changed))}


def _conflict(
    base: models.PolicyVersion,
    theirs: models.PolicyVersion,
    both: tuple[dict[str, Any], dict[str, tuple[Any, Any]]],
) -> dict[str, Any]:
    mine, changed = both
    names = [name for name in policy_form.RULES if name in mine or name in changed]
    return {
        "by": theirs.created_by_name,
        "at": theirs.created_at,
        "reason": theirs.reason,
        "version": theirs.version,
        "rows": [_conflict_row(name, (base, theirs), mine) for name in names],
    }


def _conflict_row(
    name: str, rows: tuple[models.PolicyVersion, models.PolicyVersion], mine: dict[str, Any]
) -> dict[str, Any]:
    base, theirs = (getattr(row, name) for row in rows)
    return {
        "label": policy_form.label(name),
        "before": policy_form.text(name, base),
        "theirs": policy_form.text(name, theirs),
        "mine": policy_form.text(name, mine[name]) if name in mine else "as before",
        "is_conflict": name in mine and theirs != base and mine[name] != theirs,
    }
