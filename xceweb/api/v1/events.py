"""The event log over HTTP: what a socket tells, for programs."""

from __future__ import annotations

from rest_framework import request as drf_request
from rest_framework import response, serializers

from xceweb.api import docs, resource
from xceweb.api.v1 import samples, session_shapes
from xceweb.live import frames


class Batch(serializers.Serializer):
    """Events of the numbers after ``prev`` up to ``last`` that the reader may see; ask again from ``last``."""

    type = serializers.CharField()
    topic = serializers.CharField()
    prev = serializers.IntegerField()
    last = serializers.IntegerField()
    events = session_shapes.Step(many=True)


class Events(resource.Resource):
    """Everything that happened, in one order."""

    @docs.operation(
        summary="Tell what happened after a number",
        answer=Batch,
        name="event_list",
        example={
            "type": "events",
            "topic": "cluster",
            "prev": 90209,
            "last": 90210,
            "events": [samples.STEP],
        },
        errors=(400,),
        parameters=(
            docs.parameter("after", "the last number that is known; 0 = from the beginning", type=int),
        ),
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return at most 500 numbers on; nothing is lost and nothing comes twice for who asks from ``last``."""
        after = resource.number_of(request.query_params.get("after", "0"), "after")
        return response.Response(frames.since(self.viewer, after))
