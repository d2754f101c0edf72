"""The same PostgreSQL, faster passwords, no manifest of static files."""

from xceweb.settings.base import *  # noqa: F403
from xceweb.settings.base import DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
DATABASES["default"]["OPTIONS"] = {}
WHITENOISE_AUTOREFRESH = True  # no collected files, and no warning that there are none
