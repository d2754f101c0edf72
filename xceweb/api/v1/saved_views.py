"""Queries that a person keeps by name."""

from __future__ import annotations

import uuid
from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler import models
from scheduler.selectors import saved_views
from scheduler.services import saved_views as changes_of
from xceweb.api import docs, resource
from xceweb.api.v1 import cluster_samples, person_shapes

_EXAMPLE = cluster_samples.SAVED_VIEW
_BODY = {"name": "my waiting GPU sessions", "query": "state:pending group:gpu user:me"}


class SavedViews(resource.Resource):
    """The reader's saved views; nobody else sees them."""

    @docs.operation(
        summary="List one's saved views by name",
        answer=person_shapes.SavedView,
        name="saved_view_list",
        example=_EXAMPLE,
        errors=(400,),
        is_paged=True,
    )
    def get(self, request: drf_request.Request) -> response.Response:
        """Return one page of saved views."""
        return self.page(
            saved_views.of(self.viewer), lambda page: [_shown(row) for row in page], ordering="name"
        )

    @docs.operation(
        summary="Keep a query by a name",
        answer=person_shapes.SavedView,
        name="saved_view_keep",
        body=person_shapes.SavedViewRequest,
        body_example=_BODY,
        example=_EXAMPLE,
        status=201,
        errors=(400, 403),
    )
    def post(self, request: drf_request.Request) -> response.Response:
        """Keep it; a query that cannot be read is refused with what would be right."""
        row = changes_of.keep(self.viewer, **self.read(person_shapes.SavedViewRequest))
        return response.Response(
            _shown(row), status=201, headers={"Location": f"{request.path}/{row.public_id}"}
        )


class SavedView(resource.Resource):
    """One saved view."""

    @docs.operation(
        summary="Read a saved view",
        answer=person_shapes.SavedView,
        name="saved_view_read",
        example=_EXAMPLE,
        errors=(404,),
    )
    def get(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Return one; its query goes into `q` of the list of sessions."""
        return response.Response(_shown(saved_views.require(self.viewer, public_id)))

    @docs.operation(
        summary="Change the name or the query of a saved view",
        answer=person_shapes.SavedView,
        name="saved_view_change",
        body=person_shapes.SavedViewRequest,
        body_example={"query": "state:pending age>1h"},
        example=_EXAMPLE,
        errors=(400, 403, 404),
    )
    def patch(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Change what is named; what is left out stays."""
        row = saved_views.require(self.viewer, public_id)
        values = self.read(person_shapes.SavedViewRequest, partial=True)
        return response.Response(_shown(changes_of.change(row, **values)))

    @docs.operation(
        summary="Remove a saved view",
        answer=person_shapes.SavedView,
        name="saved_view_remove",
        example=_EXAMPLE,
        errors=(403, 404),
    )
    def delete(self, request: drf_request.Request, public_id: uuid.UUID) -> response.Response:
        """Remove it, and return it as it was."""
        row = saved_views.require(self.viewer, public_id)
        changes_of.remove(row)
        return response.Response(_shown(row))


def _shown(row: models.SavedView) -> dict[str, Any]:
    return {"id": row.public_id, "name": row.name, "query": row.query, "created_at": row.created_at}
