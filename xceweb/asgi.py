"""The ASGI application: pages and API by Django, the live stream by Channels."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xceweb.settings.local")

from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

from channels.routing import ProtocolTypeRouter  # noqa: E402 - needs Django's set-up

from xceweb.live import routing  # noqa: E402 - needs Django's set-up

application = ProtocolTypeRouter({"http": django_application, "websocket": routing.application})
