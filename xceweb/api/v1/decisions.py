"""Preemptions and rounds: lists of what was decided."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.selectors import decisions, explanations, permissions
from xceweb.api import docs, resource
from xceweb.api.v1 import cluster_samples, decision_shapes, samples, shown

_GROUP = docs.parameter("group", "of this group alone")


class Decisions(resource.Resource):
    """The preemptions of the reader's groups, shadow ones included."""

    @docs.operation(
        summary="List preemptions that were decided, newest first",
        answer=decision_shapes.DecisionLine,
        name="decision_list",
        example=samples.DECISION,
        errors=(400,),
        is_paged=True,
        parameters=(
            _GROUP,
            docs.parameter("outcome", "how they turned out", enum=list(decisions.OUTCOMES)),
            docs.parameter("axis", "by which rule", enum=["owner", "queue"]),
        ),
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of decisions."""
        asked = {name: request.query_params.get(name, "") for name in ("group", "outcome", "axis")}
        if asked["outcome"] and asked["outcome"] not in decisions.OUTCOMES:
            text = f"must be one of {', '.join(decisions.OUTCOMES)}"
            raise errors.Refusal(code="invalid", fields={"outcome": text})
        if asked["axis"] not in ("", "owner", "queue"):
            raise errors.Refusal(code="invalid", fields={"axis": "must be owner or queue"})
        if "\0" in asked["group"]:
            raise errors.Refusal(code="invalid", fields={"group": "may hold no NUL character"})
        rows = decisions.narrowed(self.viewer, decisions.Filters(**asked)).annotate(stops=Count("victims"))
        return self.page(rows, lambda page: _lines(self.viewer, page))


def _lines(viewer: models.User, rows: list[models.Decision]) -> list[dict[str, Any]]:
    others = explanations.others(viewer, [row.session_id for row in rows])
    return [
        {
            "id": row.public_id,
            "number": row.pk,
            "at": row.at,
            "group": row.group.slug,
            "kind": row.kind,
            "axis": row.axis,
            "policy_name": row.policy_name,
            "outcome": decisions.outcome_of(row),
            "node": row.node.name if row.node else None,
            "queue": row.session.queue.slug,
            "preemptor": shown.public_id(others.get(row.session_id)),
            "victims": row.stops or len(row.record.get("victims", ())),
            "round": row.round.number,
        }
        for row in rows
    ]


class Preemptions(resource.Resource):
    """Who was stopped for whom: one row a victim."""

    @docs.operation(
        summary="List sessions that were stopped for others, newest first",
        answer=decision_shapes.Stop,
        name="preemption_list",
        example=samples.STOP,
        errors=(400,),
        is_paged=True,
        parameters=(_GROUP, docs.parameter("mine", "1 = of one's own sessions alone", enum=["1"])),
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of victims of the reader's groups, and of the reader's own sessions."""
        rows = decisions.victims(self.viewer, only_own=request.query_params.get("mine") == "1")
        if group := request.query_params.get("group", "").replace("\0", ""):
            rows = rows.filter(decision__group__slug=group)
        return self.page(rows, lambda page: _stops(self.viewer, page))


def _stops(viewer: models.User, rows: list[models.Victim]) -> list[dict[str, Any]]:
    others = explanations.others(
        viewer, {pk for row in rows for pk in (row.session_id, row.decision.session_id)}
    )
    kept = ("id", "axis", "mode", "action", "own_value", "preemptor_value")
    return [
        {
            **{name: getattr(row, name) for name in kept},
            "decision": row.decision.public_id,
            "at": row.decision.at,
            "group": row.decision.group.slug,
            "session": shown.public_id(others.get(row.session_id)),
            "preemptor": shown.public_id(others.get(row.decision.session_id)),
            "fate": row.fate.fate if hasattr(row, "fate") else None,
        }
        for row in rows
    ]


class Rounds(resource.Resource):
    """The rounds of a group that were stored."""

    @docs.operation(
        summary="List the stored rounds of a group, newest first",
        answer=decision_shapes.Round,
        name="round_list",
        example=cluster_samples.ROUND,
        errors=(400, 404),
        is_paged=True,
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """Return one page of rounds."""
        group = permissions.require_group(self.viewer, slug)
        rows = models.Round.objects.filter(group=group).select_related("policy", "group")
        rows = rows.annotate(is_kept=~Q(snapshot=None)).defer("snapshot", "outline")
        return self.page(rows, lambda page: [_round(row) for row in page])


def _round(row: models.Round) -> dict[str, Any]:
    kept = ("number", "at", "duration_ms", "core_version", "digest", "dispatched", "preempted", "pended")
    return {
        **{name: getattr(row, name) for name in kept},
        "group": row.group.slug,
        "policy_version": row.policy.version,
        "has_snapshot": row.is_kept,
    }
