"""The event log over HTTP: what a socket tells, for programs; page by page, or as a stream that stays open."""

from __future__ import annotations

from django import http
from django.utils.cache import patch_vary_headers
from rest_framework import request as drf_request
from rest_framework import response, serializers

from scheduler import errors, models
from xceweb.api import docs, resource
from xceweb.api.v1 import samples, session_shapes
from xceweb.live import feeds, frames, logins, places, server_sent, topics


class Batch(serializers.Serializer):
    """Events of the numbers after ``prev`` up to ``last`` that the reader may see; ask again from ``last``."""

    type = serializers.CharField()
    topic = serializers.CharField()
    prev = serializers.IntegerField()
    last = serializers.IntegerField()
    events = session_shapes.Step(many=True)


class TooManyStreams(errors.TooOften):
    """You have as many live connections as one person may have at once: close one first."""

    code = "too-many-streams"


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
        errors=(400, 404),
        parameters=(
            docs.parameter(
                "after",
                "the last number that is known; 0 = from the beginning, which a stream left out: from now on",
                type=int,
            ),
            docs.parameter(
                "topic", "cluster (all, the default), user:me, decisions, group:<name> or session:<id>"
            ),
            docs.header(
                "Last-Event-ID", "of a stream: the id of its last message, which counts instead of `after`"
            ),
        ),
    )
    def get(self, request: drf_request.Request) -> http.HttpResponseBase:
        """
        Return at most 500 numbers on; nothing is lost and nothing comes twice for who asks from ``last``.

        With ``Accept: text/event-stream`` the same comes as Server-Sent Events, live, until the reader goes.
        """
        topic = request.query_params.get("topic", "cluster")
        wants = topics.matcher(self.viewer, topic)
        if _wants_stream(request):
            return self._stream(request, topic)
        after = resource.number_of(request.query_params.get("after", "0"), "after")
        answer = response.Response(frames.since(self.viewer, after, topic=topic, wants=wants))
        patch_vary_headers(answer, ["Accept"])
        return answer

    def _stream(self, request: drf_request.Request, topic: str) -> http.HttpResponseBase:
        text = request.headers.get("Last-Event-ID") or request.query_params.get("after")
        after = resource.number_of(text, "after") if text is not None else None
        address = request.META.get("REMOTE_ADDR", "")
        if not places.has_room(self.viewer.pk, address):
            raise TooManyStreams
        answer = server_sent.answer(feeds.Feed(self._who(request), address), topic, after)
        patch_vary_headers(answer, ["Accept"])
        return answer

    @staticmethod
    def _who(request: drf_request.Request) -> logins.Who:
        if isinstance(request.auth, models.Keypair):
            keypair_id = request.auth.pk
            return lambda: logins.current_holder(keypair_id)
        session_key = request._request.session.session_key
        return lambda: logins.current_user(session_key)


def _wants_stream(request: drf_request.Request) -> bool:
    """Say whether a stream is asked for by name: who takes anything gets a page."""
    kinds = [kind.partition(";")[0].strip() for kind in request.headers.get("Accept", "").split(",")]
    return request.method == "GET" and server_sent.MEDIA_TYPE in kinds
