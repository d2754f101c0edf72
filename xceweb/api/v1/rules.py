"""The switch and the rules of a group: read, change with If-Match, preview, history."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.core import entities
from scheduler.selectors import explanations, exposures, permissions, policies, preview, rule_warnings
from scheduler.services import planned_changes, policy_guards, undoing
from scheduler.services import policies as changes_of
from xceweb.accounts import freshness
from xceweb.api import docs, matching, resource
from xceweb.api.v1 import cluster_samples, rule_shapes, session_shapes, shown

RULES = models.PolicyVersion.RULES
_MANAGED = (400, 403, 404, 412, 428)


class Preemption(resource.Resource):
    """The switch and the rules of one group."""

    @docs.operation(
        summary="Read the switch and the rules in force",
        answer=rule_shapes.Preemption,
        name="preemption_read",
        example=cluster_samples.PREEMPTION,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """Return them; ``ETag`` is what a change has to send as If-Match."""
        group = permissions.require_group(self.viewer, slug)
        return _answer(group, policies.current(group))

    @docs.operation(
        summary="Put rules into force; what is left out goes back to its default",
        answer=rule_shapes.Preemption,
        name="preemption_replace",
        body=rule_shapes.PreemptionChange,
        body_example={"preemption": {"enabled": True, "mode": "suspend"}, "reason": "urgent work waits"},
        example=cluster_samples.PREEMPTION,
        errors=_MANAGED,
        parameters=(matching.HEADER,),
    )
    def put(self, request: drf_request.Request, slug: str) -> response.Response:
        """Replace all rules."""
        defaults = {name: models.PolicyVersion._meta.get_field(name).get_default() for name in RULES}
        return self._change(slug, defaults)

    @docs.operation(
        summary="Change some rules; what is left out stays",
        answer=rule_shapes.Preemption,
        name="preemption_change",
        body=rule_shapes.PreemptionChange,
        body_example={"preemption": {"enabled": False}, "reason": "maintenance tonight"},
        example=cluster_samples.PREEMPTION,
        errors=_MANAGED,
        parameters=(matching.HEADER,),
    )
    def patch(self, request: drf_request.Request, slug: str) -> response.Response:
        """Change those that are named."""
        return self._change(slug, {})

    def _change(self, slug: str, base: dict[str, Any]) -> response.Response:
        group = permissions.require_group(self.viewer, slug)
        permissions.require(permissions.can_change_policy(self.viewer, group), f"change the rules of {slug}")
        values = self.read(rule_shapes.PreemptionChange)
        changes = base | _rules(values["preemption"])
        expected = matching.version(self.request, policies.current(group).version)
        try:
            wish = changes_of.Wish(changes, values["reason"], expected)
            when = planned_changes.When(values.get("at"), values.get("for_s"))
            planned_changes.change(self.actor, group, wish, when, _assent(self, values))
        except errors.Conflict as conflict:
            raise _changed(group, expected, conflict.facts["current"]) from None
        except errors.Refusal as refusal:
            refusal.fields = {_path(name): text for name, text in refusal.fields.items()}
            raise
        return _answer(group, policies.current(group))


def _assent(view: resource.Resource, values: dict[str, Any]) -> policy_guards.Assent:
    """A keypair proves itself with each request; a log-in may be old."""
    is_fresh = view.actor.keypair is not None or freshness.is_fresh(view.request._request)
    return policy_guards.Assent(is_fresh, values.get("confirm", ""))


class Undo(resource.Resource):
    """Going back to the version before."""

    @docs.operation(
        summary="Undo the version in force; what it began to stop is taken back where that is possible",
        answer=rule_shapes.Preemption,
        name="preemption_undo",
        body=rule_shapes.UndoAsk,
        body_example={"reason": "too early", "only_unacted": True},
        example=cluster_samples.PREEMPTION,
        errors=(*_MANAGED, 409),
        parameters=(matching.HEADER,),
    )
    def post(self, request: drf_request.Request, slug: str) -> response.Response:
        """Put the rules of the version before into force again, as a version of its own."""
        group = permissions.require_group(self.viewer, slug)
        permissions.require(permissions.can_change_policy(self.viewer, group), f"change the rules of {slug}")
        values = self.read(rule_shapes.UndoAsk)
        expected = matching.version(self.request, policies.current(group).version)
        wish = undoing.Wish(expected, values["reason"], values.get("only_unacted", False))
        try:
            row = undoing.undo(self.actor, group, wish, _assent(self, values))
        except errors.Conflict as conflict:
            raise _changed(group, expected, conflict.facts["current"]) from None
        return _answer(group, row)


class PlannedCancel(resource.Resource):
    """Taking back what is planned."""

    @docs.operation(
        summary="Cancel what is planned to change by itself; what is in force stays",
        answer=rule_shapes.Preemption,
        name="preemption_cancel_planned",
        body=session_shapes.Reason,
        body_example={"reason": "the night shift does not need it"},
        example=cluster_samples.PREEMPTION,
        errors=(400, 403, 404),
    )
    def post(self, request: drf_request.Request, slug: str) -> response.Response:
        """Cancel it, and return the switch and the rules."""
        group = permissions.require_group(self.viewer, slug)
        reason = self.read(session_shapes.Reason).get("reason", "")
        planned_changes.cancel(self.actor, group, reason=reason)
        return _answer(group, policies.current(group))


def _answer(group: models.ResourceGroup, row: models.PolicyVersion) -> response.Response:
    return response.Response(shown.preemption(group, row), headers={"ETag": matching.etag(row.version)})


def _changed(group: models.ResourceGroup, expected: int, current: models.PolicyVersion) -> matching.Changed:
    """Return what is said of a change that came too late: each rule that changed meanwhile."""
    before = policies.version(group, expected)
    meanwhile = policies.difference(before, current)
    fields = {_path(name): f"was {pair[0]!r}, is {pair[1]!r} now" for name, pair in meanwhile.items()}
    text = (
        f"{current.created_by_name} changed the rules of {group.slug} meanwhile: version {current.version}."
    )
    return matching.Changed(text, fields=fields)


def _path(name: str) -> str:
    return f"preemption.{rule_shapes.short(name)}" if name in RULES else name


def _rules(values: dict[str, Any]) -> dict[str, Any]:
    """
    Return rule -> value of the object ``preemption``.

    Raises:
        Refusal: ``enabled`` and ``state`` contradict each other.
    """
    values = dict(values)
    is_enabled = values.pop("enabled", None)
    on, state = entities.PreemptionState.ON.value, values.get("state")
    if is_enabled is not None and state is not None and is_enabled != (state == on):
        text = f"is {str(is_enabled).lower()}, and state is {state}: send one of the two"
        raise errors.Refusal(code="invalid", fields={"preemption.enabled": text})
    if is_enabled is not None and state is None:
        values["state"] = on if is_enabled else entities.PreemptionState.OFF.value
    names = {rule_shapes.short(name): name for name in RULES}
    return {names[short]: value for short, value in values.items()}


class PreemptionPreview(resource.Resource):
    """Rules that are tried, not set."""

    only_reads = True

    @docs.operation(
        summary="Say who would be stopped now under these rules",
        answer=rule_shapes.Preview,
        name="preemption_preview",
        body=rule_shapes.PreviewAsk,
        body_example={"preemption": {"mode": "suspend", "min_runtime": 600}},
        example=cluster_samples.PREVIEW,
        errors=(400, 403, 404),
    )
    def post(self, request: drf_request.Request, slug: str) -> response.Response:
        """Decide one round as if preemption were on; leaves no row, event or lock."""
        group = permissions.require_group(self.viewer, slug)
        permissions.require(permissions.can_preview(self.viewer, group), f"preview rules of {slug}")
        changes = _rules(self.read(rule_shapes.PreviewAsk).get("preemption", {}))
        found = preview.preview_policy(self.viewer, group, changes)
        rules = changes_of.draft(policies.current(group), changes)
        cautions = [{"code": one.code.value, "text": one.text} for one in rule_warnings.of(group, rules)]
        return response.Response({**_preview(self.viewer, found), "warnings": cautions})


def _preview(viewer: models.User, found: preview.Preview) -> dict[str, Any]:
    ids = {pk for one in found.victims for pk in (one.session.pk, one.preemptor.pk)}
    others = explanations.others(viewer, ids)
    return {
        "round": found.round_number,
        "at": found.computed_at,
        "victims": [_victim(one, others) for one in found.victims],
        "starts": len(found.starts),
        "waited_s": sum(one.waited_s for one in found.starts),
        "saved_s": found.saved_s,
        "saved_unknown": found.unknown,
        "lost": found.lost,
        "protected": found.protected,
        "needs_confirm": len(found.victims) > settings.CONFIRM_ABOVE_VICTIMS,
        "exposure": [_exposure(one) for one in found.exposures.owners],
    }


def _exposure(one: exposures.OfOwner) -> dict[str, Any]:
    return {
        "owner": one.owner.username,
        "stop": one.stop,
        "could": one.could,
        "by_others": one.by_others,
        "protected": one.safe,
    }


def _victim(one: preview.PreviewVictim, others: dict[int, explanations.Other]) -> dict[str, Any]:
    other = others.get(one.session.pk)
    return {
        "session": shown.public_id(other),
        "queue": other.session.queue.slug if other else None,
        "node": one.node,
        "axis": one.axis,
        "value": one.own_value,
        "preemptor_value": one.preemptor_value,
        "preemptor": shown.public_id(others.get(one.preemptor.pk)),
        "slots": one.slots,
        "ran_s": one.ran_s,
        "action": one.action,
        "mode": one.mode,
        "lost": one.lost,
        "stays_away": one.stays_away,
    }


class Policies(resource.Resource):
    """The versions of a group's rules."""

    @docs.operation(
        summary="List the versions of a group's rules, newest first",
        answer=rule_shapes.Version(many=True),
        name="policy_list",
        example=[cluster_samples.VERSION],
        errors=(404,),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """Return the newest 100 versions, each with what it changed."""
        group = permissions.require_group(self.viewer, slug)
        return response.Response([shown.version(change) for change in policies.history(group, limit=100)])
