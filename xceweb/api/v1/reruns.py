"""A decision run again, for programs: the same comparison as on its page."""

from __future__ import annotations

import uuid
from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import core
from scheduler.core import outlines
from scheduler.selectors import decisions, explanations
from xceweb.api import docs, resource
from xceweb.api.v1 import explanation_shapes, samples
from xceweb.dashboard.contexts import rerun


class DecisionRerun(resource.Resource):
    """A decision, run again."""

    @docs.operation(
        summary="Run the round of a decision again, and compare",
        answer=explanation_shapes.Rerun,
        name="decision_rerun",
        example=samples.RERUN,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """
        Say whether the same comes out; nothing is changed.

        ``state`` is ``equal``, ``differs`` or ``cannot`` (``sentence`` says why); ``equal`` of ``decisions`` are the
        same, as far as the reader may see the sessions. Asked too often, it is refused for some seconds (429).
        """
        row = decisions.require(self.viewer, public_id)
        found = rerun.run(self.viewer, row)
        others = explanations.others(self.viewer, rerun.ids(found))
        shown = rerun.readable(row, found, others)
        names = explanations.node_names(node for one in shown for node in rerun.node_ids(one))
        return response.Response(
            {
                "decision": row.public_id,
                "round": row.round.number,
                "state": found.state,
                "sentence": rerun.sentence(found),
                "note": rerun.note(found),
                "core_then": row.round.core_version,
                "core_now": core.CORE_VERSION,
                "is_same_version": found.is_same_version,
                "is_record_equal": found.is_record_equal,
                "decisions": found.total,
                "equal": found.equal,
                "differing": [
                    {
                        "session": _public(others.get(one.session_id)),
                        "then": _told(one.then, names, others),
                        "now": _told(one.now, names, others),
                    }
                    for one in shown
                ],
            }
        )


def _public(other: explanations.Other | None) -> uuid.UUID | None:
    return other.session.public_id if other is not None and other.is_named else None


def _told(
    told: outlines.Told | None, names: dict[int, str], others: dict[int, explanations.Other]
) -> dict[str, Any] | None:
    if told is None:
        return None
    return {
        "what": told.what,
        "nodes": [names.get(pk) for pk in told.node_ids],
        "victims": [_public(others.get(pk)) for pk in told.victims],
        "axis": told.axis,
        "reason": told.reason,
    }
