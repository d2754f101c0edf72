"""What else is told of one session: dry run, time line, runs, output."""

from __future__ import annotations

import uuid
from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors
from scheduler.core import explain
from scheduler.selectors import dry_run, event_log, explanations, permissions, slot_kinds
from scheduler.services import output_pages
from xceweb.api import docs, resource
from xceweb.api.v1 import samples, session_shapes, sessions, shown
from xceweb.live import frames


class SessionDryRun(resource.Resource):
    """A request that is tried, not submitted."""

    only_reads = True

    @docs.operation(
        summary="Say what would happen if this were submitted now",
        answer=session_shapes.DryRun,
        name="session_dry_run",
        body=session_shapes.Submission,
        body_example=samples.SUBMISSION,
        example=samples.DRY_RUN,
        errors=(400, 403, 404),
    )
    def post(self, request: drf_request.Request) -> response.Response:
        """Decide one round with it; nothing is written and nothing is reserved."""
        asked = sessions.asked_for(self.read(session_shapes.Submission))
        found = dry_run.dry_run(self.actor, asked)
        one = found.answer
        return response.Response(
            {
                **_answer(one),
                "axis": one.axis,
                "reason": one.pend["reason"] if one.pend else None,
                "sentence": _sentence(one),
                "round": found.round_number,
                "at": found.at,
                "variants": [
                    {"change": each.change, "value": each.value, **_answer(each.answer)}
                    for each in found.variants
                ],
            }
        )


def _answer(one: dry_run.Answer) -> dict[str, Any]:
    return {"outcome": one.outcome, "nodes": list(one.nodes), "victims": one.victims}


def _sentence(one: dry_run.Answer) -> str:
    where = ", ".join(one.nodes)
    if one.outcome == "starts":
        return f"It would start now on {where}."
    if one.outcome == "stops":
        whose = "of your own" if one.axis == "owner" else "of lower queues"
        count = "1 session" if one.victims == 1 else f"{one.victims} sessions"
        return f"It would stop {count} {whose} and start on {where}."
    return explain.pend_sentence(one.pend or {}, kinds=slot_kinds.load())


class SessionTimeline(resource.Resource):
    """What happened to a session."""

    @docs.operation(
        summary="Tell what happened to a session, oldest first",
        answer=session_shapes.Step(many=True),
        name="session_timeline",
        example=[samples.STEP],
        errors=(404,),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Return the newest 200 events of a session that the reader may see."""
        row = permissions.require_session(self.viewer, public_id)
        entries = event_log.seen(event_log.rights_of(self.viewer), event_log.of_session(row))
        return response.Response(frames.rows(entries))


class SessionRuns(resource.Resource):
    """The attempts of a session."""

    @docs.operation(
        summary="List a session's runs, oldest first",
        answer=session_shapes.Run(many=True),
        name="session_runs",
        example=[samples.RUN],
        errors=(403, 404),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Return one row an attempt."""
        row = permissions.require_session(self.viewer, public_id)
        is_open = permissions.sight(self.viewer, row) >= permissions.Sight.OPERATIONS
        permissions.require(is_open, "read the runs of somebody else's session")
        return response.Response([shown.run(run) for run in explanations.runs(row)])


class SessionOutput(resource.Resource):
    """What a session writes."""

    @docs.operation(
        summary="Read a session's output",
        answer=session_shapes.Output,
        name="session_output",
        example=samples.OUTPUT,
        errors=(400, 403, 404),
        parameters=(
            docs.parameter("offset", "first byte; without it the last lines that are known", type=int),
            docs.parameter(
                "rank", "place of the node in the newest run, from 0; without it the first", type=int
            ),
        ),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Return the last lines, or one page, for which the node is asked: ``state`` is ``asked`` until it came."""
        row = permissions.require_session(self.viewer, public_id)
        is_whole = permissions.sight(self.viewer, row) >= permissions.Sight.FULL
        permissions.require(is_whole, "read what somebody else's session writes")
        rank = resource.number_of(request.query_params.get("rank", "0"), "rank")
        if rank and rank >= len(explanations.output_nodes(row)):
            raise errors.Refusal(code="invalid", fields={"rank": "the newest run has not so many nodes"})
        kept = explanations.output(row, rank=rank)
        size = kept.size if kept else 0
        if "offset" not in request.query_params:
            text = kept.tail if kept else ""
            first = max(0, size - len(text.encode()))
            return _output("last-lines" if kept else "none", text, bounds=(first, size), size=size)
        offset = resource.number_of(request.query_params["offset"], "offset")
        if kept is None:
            return _output("none", "", bounds=(offset, offset), size=0)
        if offset > max(size, 0):
            raise errors.Refusal(
                code="invalid", fields={"offset": f"is beyond the {size} bytes that are known"}
            )
        found = output_pages.ask(row, offset=offset, rank=rank)
        if found is None or found.came_at is None:
            return _output("asked", "", bounds=(offset, offset), size=size)
        if found.is_gone:
            return _output("gone", "", bounds=(offset, offset), size=size)
        return _output("page", found.text, bounds=(offset, found.next_offset), size=max(size, found.size))


def _output(state: str, text: str, *, bounds: tuple[int, int], size: int) -> response.Response:
    first, after = bounds
    return response.Response(
        {"state": state, "offset": first, "next_offset": after, "size": size, "text": text}
    )
