"""What the schema says of each operation, in one line each: words, shapes, an example, the errors that may come."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from drf_spectacular import utils
from rest_framework import serializers

from xceweb.api.v1 import problem_shapes

Method = TypeVar("Method", bound=Callable[..., Any])
Shape = type[serializers.Serializer[Any]]
_ERRORS = {
    400: "The body or a parameter cannot be taken as it is; `fields` says what is wrong.",
    401: "No valid keypair, and nobody is logged in.",
    403: "The reader may see this, but not do it; or the keypair's scope is too narrow.",
    404: "There is no such thing, or the reader may not see it.",
    409: "The ground moved meanwhile: look again.",
    412: "Somebody changed it since this ETag was given; the difference is in the answer.",
    422: "The Idempotency-Key came with another request before.",
    428: "If-Match is missing.",
    429: "Too many requests: wait as Retry-After says.",
}
_ALWAYS = (401, 429)
#: Query parameters of every list.
_PAGED = (
    utils.OpenApiParameter("limit", int, description="rows a page, 1 to 200; default 50"),
    utils.OpenApiParameter("cursor", str, description="from `next` or `previous` of another page"),
    utils.OpenApiParameter("count", int, enum=[1], description="1 = tell the number of all rows"),
)


def parameter(name: str, text: str, **more: Any) -> utils.OpenApiParameter:
    """Return a query parameter that is text unless said otherwise."""
    return utils.OpenApiParameter(name, more.pop("type", str), description=text, **more)


def choice(name: str, values: Iterable[str]) -> utils.OpenApiParameter:
    """Return a part of the path that is one of a few words."""
    return utils.OpenApiParameter(name, str, utils.OpenApiParameter.PATH, enum=list(values))


def header(name: str, text: str, *, is_required: bool = False) -> utils.OpenApiParameter:
    """Return a header of the request."""
    return utils.OpenApiParameter(
        name, str, utils.OpenApiParameter.HEADER, description=text, required=is_required
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class operation:
    """The description of one operation, put on its method."""

    summary: str
    answer: Shape | serializers.Serializer[Any]  #: its shape; of a paged list that of one row
    example: Any  #: what it answers; of a paged list one row
    name: str  #: of the operation, for generated clients
    body: Shape | None = None
    body_example: Any = None
    status: int = 200
    errors: tuple[int, ...] = ()  #: statuses beside 401 and 429, which always may come
    parameters: tuple[utils.OpenApiParameter, ...] = ()
    is_paged: bool = False

    def __call__(self, method: Method) -> Method:
        """Describe a method."""
        shown = _page_of(self.answer) if self.is_paged and isinstance(self.answer, type) else self.answer
        described = utils.extend_schema(
            operation_id=self.name,
            summary=self.summary,
            request=self.body,
            responses={(self.status, "application/json"): shown, **self._refusals()},
            examples=self._examples(),
            parameters=[*self.parameters, *(_PAGED if self.is_paged else ())],
        )
        found: Method = described(method)
        return found

    def _refusals(self) -> dict[tuple[int, str], utils.OpenApiResponse]:
        return {
            (code, "application/problem+json"): utils.OpenApiResponse(problem_shapes.Problem, _ERRORS[code])
            for code in sorted({*self.errors, *_ALWAYS})
        }

    def _examples(self) -> list[utils.OpenApiExample]:
        codes = [str(self.status)]
        told = _page(self.example) if self.is_paged else self.example
        found = [utils.OpenApiExample("Answer", value=told, response_only=True, status_codes=codes)]
        if self.body_example is not None:
            found.append(utils.OpenApiExample("Request", value=self.body_example, request_only=True))
        return found


def _page_of(row: Shape) -> serializers.Serializer[Any]:
    """Return the shape of one page of rows, as ``pagination.Cursor`` gives it out."""
    link = {"allow_null": True, "help_text": "address of the page; null = there is none"}
    fields: dict[str, serializers.Field[Any, Any, Any, Any]] = {
        "next": serializers.URLField(**link),
        "previous": serializers.URLField(**link),
        "count": serializers.IntegerField(required=False, help_text="number of all rows; with count=1"),
        "results": row(many=True),
    }
    made: serializers.Serializer[Any] = utils.inline_serializer(f"{row.__name__}Page", fields)
    return made


def _page(row: Any) -> dict[str, Any]:
    return {"next": None, "previous": None, "results": [row]}
