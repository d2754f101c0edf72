"""Behind TLS, with servers of one's own."""

from xceweb.settings.base import *  # noqa: F403

SECURE_SSL_REDIRECT = True
SECURE_HSTS_SECONDS = 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SESSION_COOKIE_NAME = "__Host-xce_session"
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_NAME = "__Host-xce_csrf"
CSRF_COOKIE_SECURE = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
