"""Pages by cursor: stable while rows come and go, the same cost however far one reads."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from django.db.models import QuerySet
from rest_framework import exceptions, pagination, request, response, views

from scheduler import errors


class Cursor(pagination.CursorPagination):
    """``limit`` rows a page, ``next`` and ``previous`` as addresses; ``count=1`` adds the number of all rows."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"
    cursor_query_param = "cursor"
    ordering = "-id"

    def __init__(self, ordering: str = "-id") -> None:
        self.ordering = ordering
        self._count: int | None = None

    def get_ordering(
        self, request: request.Request, queryset: QuerySet[Any], view: views.APIView
    ) -> tuple[str, ...]:
        """Return the one order that this list has."""
        return (self.ordering,)

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: request.Request, view: views.APIView | None = None
    ) -> list[Any] | None:
        """Return the rows of the page that the request asks for."""
        if request.query_params.get("count") == "1":
            self._count = queryset.count()
        try:
            return super().paginate_queryset(queryset, request, view)
        except exceptions.NotFound:
            text = "is none that this list gave: begin again without it"
            raise errors.Refusal(code="invalid", fields={"cursor": text}) from None

    def get_paginated_response(self, data: Any) -> response.Response:
        """Return a page with the addresses of its neighbours."""
        links = {"next": self.get_next_link(), "previous": self.get_previous_link()}
        count = {} if self._count is None else {"count": self._count}
        return response.Response(OrderedDict(**links, **count, results=data))
