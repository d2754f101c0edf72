"""The API's description: what the generator must be told, and Swagger's page under our content security policy."""

from __future__ import annotations

from typing import Any

from csp import decorators
from django.utils.decorators import method_decorator
from drf_spectacular import extensions, views
from drf_spectacular.utils import Direction

from xceweb.api import authentication, fields


class KeypairScheme(extensions.OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a keypair is sent."""

    target_class = authentication.KeypairAuthentication
    name = ["keypair", "keypairBearer"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        """Return both ways."""
        basic = {"type": "http", "scheme": "basic", "description": "access key and secret, as in curl -u"}
        bearer = {"type": "http", "scheme": "bearer", "description": "ACCESS:SECRET"}
        return [basic, bearer]


class StrictShape(extensions.OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """A body of which every key is known says so."""

    target_class = fields.Strict
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        """Return the shape, closed where it describes a request."""
        found: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return found | {"additionalProperties": False} if direction == "request" else found


@method_decorator(
    decorators.csp_update({"style-src": ["'self'", "'unsafe-inline'"], "img-src": ["'self'", "data:"]}),
    name="dispatch",
)
class ApiDocs(views.SpectacularSwaggerSplitView):
    """Swagger's page out of the sidecar; it sets styles in attributes, hence the wider policy for this page alone."""

    url_name = "schema:openapi"
    throttle_classes = []
