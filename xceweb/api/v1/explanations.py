"""JSON twins of the explaining pages: the same sight, the same sentences, the same record."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import models
from scheduler.core.counterfactuals import answers
from scheduler.selectors import decisions, explanations, permissions
from xceweb.api import docs, resource
from xceweb.api.v1 import explanation_shapes, samples
from xceweb.dashboard.contexts import candidates, counterfactuals, session_page, session_seen


class SessionExplanation(resource.Resource):
    """Why a session waits, was stopped, or is as it is."""

    @docs.operation(
        summary="Say why a session is as it is",
        answer=explanation_shapes.Explanation,
        name="session_explanation",
        example=samples.EXPLANATION,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Return the sentence of its page, with what it rests on."""
        session = permissions.require_session(self.viewer, public_id)
        seen = session_seen.look(self.viewer, session)
        why = session_page.why(seen)
        return response.Response(
            {
                "session": session.public_id,
                "state": session.state,
                "result": session.result,
                "queue": session.queue.slug,
                "group": session.group.slug,
                "kind": why["kind"],
                "sentence": _plain(why["sentence"]),
                "note": _plain(why.get("note", "")),
                **_reason(seen, why),
            }
        )


class SessionCounterfactuals(resource.Resource):
    """What would have spared a session that was stopped, or would help one that waits."""

    @docs.operation(
        summary="Say what would have spared a session, or would help it",
        answer=explanation_shapes.Counterfactuals,
        name="session_counterfactuals",
        example=samples.COUNTERFACTUALS,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """
        Run the round again with one thing changed at a time, and tell what would have come out.

        ``state`` is ``none`` where there is nothing to ask; moments are microseconds since the epoch, amounts are in
        the smallest unit of their kind. ``policies`` are those of other packages that took part: then only values that
        were tried are said, no ranges.
        """
        session = permissions.require_session(self.viewer, public_id)
        seen = session_seen.look(self.viewer, session)
        kind = session_page.shown(seen)
        told = counterfactuals.ask(seen, kind)
        return response.Response(
            {
                "session": session.public_id,
                "kind": kind,
                "state": told.state if told else "none",
                "is_complete": told.is_complete if told else True,
                "policies": list(told.policies) if told else [],
                "answers": [_answer(seen, one) for one in told.answers] if told else [],
            }
        )


def _answer(seen: session_seen.Seen, one: answers.Counterfactual) -> dict[str, Any]:
    sentence = counterfactuals.say(seen, one).sentence
    return {"kind": one.kind, "helps": one.helps, "facts": dict(one.facts), "sentence": sentence}


def _plain(text: str) -> str:
    return text.replace("**", "")


def _reason(seen: session_seen.Seen, why: dict[str, Any]) -> dict[str, Any]:
    if why["kind"] == "pending":
        row = explanations.pend_reason(seen.session)
        return {"reason": why["code"], "facts": row.facts if row else {}, "since": why["since"]}
    if why["kind"] == "preempted":
        victim = seen.stops[0]
        return {
            "decision": victim.decision.public_id,
            "axis": victim.axis,
            "own_value": victim.own_value,
            "preemptor_value": victim.preemptor_value,
            "mode": victim.mode,
            "policy_version": victim.decision.round.policy.version,
            "outcome": why["outcome"]["state"],
        }
    return {}


class Decision(resource.Resource):
    """One preemption whole."""

    @docs.operation(
        summary="Read the record of a decision",
        answer=explanation_shapes.Record,
        name="decision_read",
        example=samples.RECORD,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Return the record with public ids, both sides; candidates that the reader may not see are left out."""
        row = decisions.require(self.viewer, public_id)
        ids = {row.session_id, *(one["session_id"] for one in row.record["candidates"])}
        others = explanations.others(self.viewer, ids)
        shown = candidates.visible(row.record["candidates"], others)
        names = explanations.node_names(explanations.node_ids(shown, row.record["nodes"]))
        return response.Response(
            {
                "decision": row.public_id,
                "number": row.pk,
                "at": row.at,
                "round": row.round.number,
                "core_version": row.round.core_version,
                "snapshot_digest": row.round.digest,
                "group": row.group.slug,
                "kind": row.kind,
                "axis": row.axis,
                "policy_name": row.policy_name,
                "policy_version": row.round.policy.version,
                "outcome": decisions.outcome_of(row),
                "node": row.node.name,
                "slots": row.record["slots"],
                "preemptor": _who(others.get(row.session_id)) | {"value": row.preemptor_value},
                "victims": [_victim(row, one, others) for one in row.record["victims"]],
                "candidates": [_candidate(one, others, names) for one in shown],
                "nodes": [
                    {**one, "node": names.get(one["node_id"])} for one in map(dict, row.record["nodes"])
                ],
            }
        )


def _who(other: explanations.Other | None) -> dict[str, Any]:
    if other is None or not other.is_named:
        return {"session": None, "queue": other.session.queue.slug if other else None}
    return {"session": other.session.public_id, "queue": other.session.queue.slug}


def _victim(
    row: models.Decision, one: dict[str, Any], others: dict[int, explanations.Other]
) -> dict[str, Any]:
    kept = ("action", "mode", "signal", "grace_s", "own_value", "frees")
    return _who(others.get(one["session_id"])) | {name: one[name] for name in kept}


def _candidate(
    one: Mapping[str, Any], others: dict[int, explanations.Other], names: dict[int, str]
) -> dict[str, Any]:
    other = others.get(one["session_id"])
    facts = one["facts"] if other is not None and other.is_named else {}
    nodes = [names.get(pk) for pk in one["node_ids"]]
    return _who(other) | {"verdict": one["verdict"], "facts": facts, "nodes": nodes}
