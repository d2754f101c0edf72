"""Sessions: list, submit, read, change, and act on them."""

from __future__ import annotations

import uuid
from typing import Any

from django import http
from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors
from scheduler.selectors import permissions, session_query
from scheduler.services import control, many, submission
from xceweb.api import docs, idempotency, resource
from xceweb.api.v1 import samples, session_shapes, shown

#: Parameters of the list that are words of the query language, too.
_WORDS = ("state", "group", "queue", "user", "type", "result", "reason", "node")
_ORDERS = {"-submitted_at": "-id", "submitted_at": "id"}
_KEY = docs.header(idempotency.HEADER, "the same request with the same key is carried out once")


class Sessions(resource.Resource):
    """The sessions that the reader may see."""

    scope = resource.Scope.SESSIONS

    @docs.operation(
        summary="List sessions, newest first",
        answer=session_shapes.Session,
        name="session_list",
        example=samples.SESSION,
        errors=(400,),
        is_paged=True,
        parameters=(
            docs.parameter("q", "query, such as `state:pending queue:gpu age>1h user:me train`"),
            *(docs.parameter(word, f"as `{word}:` of the query; several with commas") for word in _WORDS),
            docs.parameter("ordering", "order of submission", enum=list(_ORDERS)),
        ),
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of sessions."""
        asked = request.query_params
        order = asked.get("ordering", "-submitted_at")
        if order not in _ORDERS:
            raise errors.Refusal(code="invalid", fields={"ordering": f"must be one of {', '.join(_ORDERS)}"})
        found = session_query.narrow(
            permissions.visible_sessions(self.viewer), self.viewer, asked.get("q", "")
        )
        for word in _WORDS:
            if word in asked:
                found = found.filter(session_query.meaning(self.viewer, word, asked[word]))
        rows = shown.with_parts(found)
        return self.page(rows, lambda page: shown.sessions(self.viewer, page), ordering=_ORDERS[order])

    @docs.operation(
        summary="Submit a session",
        answer=session_shapes.SessionInside,
        name="session_submit",
        body=session_shapes.Submission,
        body_example=samples.SUBMISSION,
        example=samples.INSIDE,
        status=201,
        errors=(400, 403, 404, 422),
        parameters=(_KEY,),
    )
    def post(self, request: drf_request.Request) -> http.HttpResponse:
        """Submit a session; every fault of the request is told at once."""
        answer = idempotency.once(request, self._submit)
        answer["Location"] = f"{request.path}/{answer.data['id']}"
        return answer

    def _submit(self) -> tuple[int, dict[str, Any]]:
        row = submission.submit_session(self.actor, asked_for(self.read(session_shapes.Submission)))
        return 201, shown.session(self.viewer, row)


class Session(resource.Resource):
    """One session."""

    scope = resource.Scope.SESSIONS

    @docs.operation(
        summary="Read a session",
        answer=session_shapes.SessionInside,
        name="session_read",
        example=samples.INSIDE,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Return one session whole."""
        row = permissions.require_session(self.viewer, public_id)
        return response.Response(shown.session(self.viewer, row))

    @docs.operation(
        summary="Change a session's priority, rank or opt-out",
        answer=session_shapes.SessionInside,
        name="session_change",
        body=session_shapes.SessionChange,
        body_example={"job_priority": 20},
        example=samples.INSIDE,
        errors=(400, 403, 404),
    )
    def patch(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Change what its owner may change; what is left out stays."""
        row = permissions.require_session(self.viewer, public_id)
        control.change_session(self.actor, row, **self.read(session_shapes.SessionChange, partial=True))
        return response.Response(
            shown.session(self.viewer, permissions.require_session(self.viewer, public_id))
        )


ACTIONS = many.ACTIONS


class SessionAction(resource.Resource):
    """What may be done to a session: cancel, hold, release, suspend, resume, requeue."""

    scope = resource.Scope.SESSIONS

    @docs.operation(
        summary="Cancel, hold, release, suspend, resume or requeue a session",
        answer=session_shapes.SessionInside,
        name="session_act",
        body=session_shapes.Reason,
        body_example={"reason": "wrong data"},
        example=samples.INSIDE,
        errors=(400, 403, 404, 409),
        parameters=(docs.choice("action", ACTIONS),),
    )
    def post(self, request: drf_request.Request, public_id: uuid.UUID, action: str) -> response.Response:
        """Do it, and return the session as it is then; what takes time goes on afterwards."""
        if action not in ACTIONS:
            raise errors.NotVisible(f"There is no such action; there are: {', '.join(ACTIONS)}.")
        row = permissions.require_session(self.viewer, public_id)
        reason = self.read(session_shapes.Reason).get("reason", "")
        ACTIONS[action](self.actor, row, reason)
        return response.Response(
            shown.session(self.viewer, permissions.require_session(self.viewer, public_id))
        )


def asked_for(values: dict[str, Any]) -> submission.SubmitRequest:
    """
    Return the service's request of a body.

    Raises:
        Refusal: a dependency is not as it should be.
    """
    values = dict(values)
    pairs = []
    for one in values.pop("dependencies", []):
        if set(one) != {"kind", "session"}:
            text = 'each is {"kind": "afterok" or "afterany", "session": id}'
            raise errors.Refusal(code="invalid", fields={"dependencies": text})
        pairs.append((one["kind"], one["session"]))
    return submission.SubmitRequest(**values, dependencies=pairs)
