"""All that a browser touches, and the wiring: settings, servers, the Celery application."""
