"""Clients that show a keypair, beside those that are logged in."""

from tests.xceweb.api.conftest import api_of  # noqa: F401
