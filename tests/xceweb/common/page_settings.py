"""Settings that show pages without a database: for looking at them, and for the browser tests of the look."""

import pathlib

_ROOT = pathlib.Path(__file__).resolve().parents[3]

SECRET_KEY = "only for sample pages"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "xceweb.common",
]
INSTALLED_APPS += ["django.contrib.auth", "scheduler"]
AUTH_USER_MODEL = "scheduler.User"
MIDDLEWARE = [
    "xceweb.common.middleware.RequestIdMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]
ROOT_URLCONF = "tests.xceweb.common.page_urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "xceweb.common.context_processors.page",
            ],
            "string_if_invalid": "",
        },
    }
]
STATIC_URL = "/static/"
STATICFILES_DIRS = [_ROOT / "static"]
USE_TZ = True
TIME_ZONE = "UTC"
CONTENT_SECURITY_POLICY = {"DIRECTIVES": {"default-src": ["'self'"], "object-src": ["'none'"]}}
