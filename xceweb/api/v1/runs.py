"""Runs across sessions."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import errors, models
from scheduler.selectors import runs
from xceweb.api import docs, resource
from xceweb.api.v1 import samples, session_shapes, shown


class Runs(resource.Resource):
    """The attempts of all sessions that the reader reads in full: their own, and those of groups that they operate."""

    @docs.operation(
        summary="List runs of all sessions, newest first",
        answer=session_shapes.RunLine,
        name="run_list",
        example=samples.RUN_LINE,
        errors=(400,),
        is_paged=True,
        parameters=(
            docs.parameter("session", "of this session alone: its id"),
            docs.parameter("group", "in this group alone"),
            docs.parameter("node", "on this node, alone or with others"),
            docs.parameter("state", "what it is doing", enum=list(runs.STATES)),
            docs.parameter("end", f"how it ended: {', '.join(runs.ENDS)}; several with commas"),
        ),
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of runs."""
        rows = runs.narrowed(self.viewer, _filters(request.query_params))
        return self.page(rows, lambda page: [_line(row) for row in page])


def _filters(asked: Mapping[str, Any]) -> runs.Filters:
    names = ("session", "group", "node", "state", "end")
    values = {name: str(asked.get(name, "")) for name in names}
    faults = {name: "may hold no NUL character" for name, value in values.items() if "\0" in value}
    if values["state"] and values["state"] not in runs.STATES:
        faults["state"] = f"must be one of {', '.join(runs.STATES)}"
    try:
        session = uuid.UUID(values["session"]) if values["session"] else None
    except ValueError:
        faults["session"] = "must be the id of a session"
    ends = tuple(one for one in values["end"].split(",") if one)
    if set(ends) - set(runs.ENDS):
        faults["end"] = f"must be one of {', '.join(runs.ENDS)}, or several with commas"
    if faults:
        raise errors.Refusal(code="invalid", fields=faults)
    return runs.Filters(session, values["group"], values["node"], values["state"], ends)


def _line(row: models.Run) -> dict[str, Any]:
    about = {
        "session": row.session.public_id,
        "name": row.session.name,
        "group": row.session.group.slug,
        "queue": row.session.queue.slug,
    }
    return about | shown.run(row)
