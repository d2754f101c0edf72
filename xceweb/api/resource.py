"""What all operations of the API share: who asks, what is read of a body, how lists are given out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import http
from django.db.models import QuerySet
from django.utils.cache import patch_vary_headers
from rest_framework import request as drf_request
from rest_framework import response, serializers, views

from scheduler import errors, models
from scheduler.selectors import permissions
from scheduler.services import actors
from xceweb.api import pagination
from xceweb.api import permissions as scopes

Scope = scopes.Scope


class Resource(views.APIView):
    """One address; its methods are its operations."""

    #: The narrowest scope with which a keypair may change something here; ``FULL`` unless said otherwise.
    scope: Scope = Scope.FULL
    #: Whether its POST changes nothing, so that a keypair that reads may use it.
    only_reads = False

    @property
    def viewer(self) -> models.User:
        """Return the person who asks."""
        user: models.User = self.request.user
        return user

    @property
    def actor(self) -> actors.Actor:
        """Return who acts, with the keypair that was shown and the id of the request."""
        keypair = self.request.auth if isinstance(self.request.auth, models.Keypair) else None
        return actors.of_user(self.viewer, request_id=self.request._request.request_id, keypair=keypair)

    def initial(self, request: drf_request.Request, *args: Any, **kwargs: Any) -> None:
        """Let the person in, and read their roles once."""
        super().initial(request, *args, **kwargs)
        request.user.known_roles = permissions.roles_of(request.user)

    def finalize_response(
        self, request: drf_request.Request, response: http.HttpResponseBase, *args: Any, **kwargs: Any
    ) -> http.HttpResponseBase:
        """Say how many requests are left, and that nothing of the answer may be kept by others."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(request._request, "rate_limit", {}).items():
            answer[name] = str(value)
        if not answer.has_header("Cache-Control"):
            answer["Cache-Control"] = "no-store"
        patch_vary_headers(answer, ["Cookie", "Authorization"])
        return answer

    def read(self, shape: type[serializers.Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
        """
        Return the checked fields of the body.

        Raises:
            Refusal: it is no object.
            ValidationError: a field is not known, or has the wrong shape.
        """
        data = self.request.data
        if not isinstance(data, dict):
            raise errors.Refusal("The body must be a JSON object.", code="invalid")
        found = shape(data=data, partial=partial)
        found.is_valid(raise_exception=True)
        values: dict[str, Any] = found.validated_data
        return values

    def page(
        self, rows: QuerySet[Any], show: Callable[[list[Any]], list[dict[str, Any]]], *, ordering: str = "-id"
    ) -> response.Response:
        """Return one page of a list; ``show`` makes its rows from those of the page."""
        cursor = pagination.Cursor(ordering)
        found = cursor.paginate_queryset(rows, self.request, self) or []
        return cursor.get_paginated_response(show(found))


def number_of(text: str, name: str, *, least: int = 0) -> int:
    """
    Return a whole number of a query parameter.

    Raises:
        Refusal: it is none, or below ``least``.
    """
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) < least:
        raise errors.Refusal(code="invalid", fields={name: f"must be a whole number of at least {least}"})
    return int(text)
