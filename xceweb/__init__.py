"""Everything that a browser or a client touches, and the wiring. The domain is in ``scheduler``."""

from xceweb.celery import app as celery_app

__all__ = ["celery_app"]
