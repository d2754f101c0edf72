"""One machine, loopback only: what ``bin/up`` runs."""

from xceweb.settings.base import *  # noqa: F403

WHITENOISE_USE_FINDERS = False
