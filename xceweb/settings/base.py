"""What is true everywhere."""

from __future__ import annotations

import pathlib
import urllib.parse
from typing import Any

from csp.constants import NONE, SELF

from scheduler import logs
from xceweb import env
from xceweb.admin import look

BASE_DIR = pathlib.Path(__file__).resolve().parent.parent.parent
ENV = env.read()

SECRET_KEY: str = ENV["SECRET_KEY"]
DEBUG = False
ALLOWED_HOSTS: list[str] = ENV["XCE_ALLOWED_HOSTS"]
PUBLIC_URL: str = ENV["XCE_PUBLIC_URL"].rstrip("/")
DATA_DIR = pathlib.Path(ENV["XCE_DATA_DIR"]).resolve()
TIME_SCALE: float = ENV["XCE_TIME_SCALE"]
CONFIRM_ABOVE_VICTIMS: int = ENV["XCE_CONFIRM_ABOVE_VICTIMS"]
FRESH_LOG_IN_MINUTES: int = ENV["XCE_FRESH_LOG_IN_MINUTES"]
KEEP_SNAPSHOTS_DAYS: int = ENV["XCE_KEEP_SNAPSHOTS_DAYS"]

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "scheduler",
    "xceweb.common",
    "xceweb.accounts",
    "xceweb.live",
]

MIDDLEWARE = [
    "xceweb.common.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "xceweb.common.log_in.LogInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "xceweb.common.refusals.RefusalMiddleware",
]

ROOT_URLCONF = "xceweb.urls"
ASGI_APPLICATION = "xceweb.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "xceweb.common.context_processors.page",
            ],
        },
    }
]


def database_from_url(url: str) -> dict[str, Any]:
    """Return Django's settings for one PostgreSQL URL; the pool is psycopg's own."""
    parts = urllib.parse.urlsplit(url)
    query = dict(urllib.parse.parse_qsl(parts.query))
    host = query.pop("host", parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": urllib.parse.unquote(parts.username or ""),
        "PASSWORD": urllib.parse.unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 0,
        "OPTIONS": {"pool": {"min_size": 1, "max_size": 12, "timeout": 10}, **query},
    }


DATABASES = {"default": database_from_url(ENV["DATABASE_URL"])}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "scheduler.User"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "dashboard:overview"
LOGOUT_REDIRECT_URL = "accounts:login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]

LANGUAGE_CODE = "en"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True
FORMAT_MODULE_PATH = "xceweb.formats"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = pathlib.Path(ENV["XCE_STATIC_ROOT"] or DATA_DIR / "static")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
}

SESSION_COOKIE_NAME = "xce_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_SERIALIZER = "django.contrib.sessions.serializers.JSONSerializer"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "xce_csrf"
CSRF_FAILURE_VIEW = "xceweb.common.views.csrf_failure"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [ENV["REDIS_URL"]], "prefix": "xce-live"},
    }
}

CELERY_BROKER_URL = ENV["BROKER_URL"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # Celery's workers give up after a hundred tries, within the hour
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    # A publish that cannot be made fails at once: whatever a bell announces is found by looking, too (RELIABILITY C8).
    "max_retries": 0,
    "interval_start": 0,
}
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_STORE_ERRORS_EVEN_IF_IGNORED = False
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_TIME_LIMIT = 30
CELERY_TASK_SOFT_TIME_LIMIT = 25
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {
    "xce.report": {"queue": "controller"},
    "xce.round": {"queue": "rounds"},
    "xce.due_rounds": {"queue": "rounds"},
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TIMEZONE = "UTC"
CELERY_IMPORTS = ("scheduler.demo.stream",)
#: A tick that had to wait for a busy worker, or whose worker's clock is 90 s ahead (RELIABILITY P17), still counts; of
#: a burst of them all but the first find nothing due.
TICK_EXPIRES_S = 120
CELERY_BEAT_SCHEDULE = {
    "due-rounds": {"task": "xce.due_rounds", "schedule": TIME_SCALE, "options": {"expires": TICK_EXPIRES_S}},
    "prune": {"task": "xce.prune", "schedule": 3600.0, "options": {"expires": 3600}},
    "reconcile": {"task": "xce.reconcile", "schedule": TIME_SCALE, "options": {"expires": TICK_EXPIRES_S}},
}
if ENV["XCE_DEMO_STREAM"]:
    CELERY_BEAT_SCHEDULE["demo-stream"] = {
        "task": "xce.demo_stream",
        "schedule": 3.0,
        "options": {"expires": 3},
    }

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "xceweb.api.authentication.KeypairAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "xceweb.api.permissions.HasScope",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "xceweb.api.negotiation.JsonAnyway",
    "DEFAULT_THROTTLE_CLASSES": ["xceweb.api.throttles.RequestsPerMinute"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "xceweb.api.problems.handle",
}
#: Requests that one keypair, or one person who is logged in, may make in a minute; 0 = any number.
API_REQUESTS_PER_MINUTE: int = ENV["XCE_API_REQUESTS_PER_MINUTE"]
#: Live connections, sockets and streams over HTTP, of one person and from one address to one server process; 0 = any.
LIVE_PER_PERSON: int = ENV["XCE_LIVE_PER_PERSON"]
LIVE_PER_ADDRESS: int = ENV["XCE_LIVE_PER_ADDRESS"]
SPECTACULAR_SETTINGS = {
    "TITLE": "XCE Web",
    "DESCRIPTION": "Sessions, queues, nodes and the preemption switch of a cluster, and why everything is as it is.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "SessionState": "xceweb.api.enums.SESSION_STATE",
        "NodeState": "xceweb.api.enums.NODE_STATE",
        "QueueState": "xceweb.api.enums.QUEUE_STATE",
        "PreemptionState": "xceweb.api.enums.PREEMPTION_STATE",
        "PreemptionScope": "xceweb.api.enums.PREEMPTION_SCOPE",
        "PreemptionMode": "xceweb.api.enums.PREEMPTION_MODE",
        "PreemptionOrder": "xceweb.api.enums.PREEMPTION_ORDER",
        "Placement": "xceweb.api.enums.PLACEMENT",
        "SessionType": "xceweb.api.enums.SESSION_TYPE",
        "KeypairScope": "xceweb.api.enums.KEYPAIR_SCOPE",
        "OutputState": "xceweb.api.enums.OUTPUT_STATE",
        "RerunState": "xceweb.api.enums.RERUN_STATE",
        "DryRunOutcome": "xceweb.api.enums.DRY_RUN_OUTCOME",
        "SilentNode": "xceweb.api.enums.SILENT_NODE",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

#: The theme of the administrators' console.
UNFOLD = look.UNFOLD

#: One line for each tick, task received and task that succeeded is a gigabyte a week that says nothing; of requests the
#: middleware tells, with their ids.
LOGGING = logs.config(
    is_json=ENV["XCE_LOG_JSON"],
    level=ENV["XCE_LOG_LEVEL"],
    levels={
        "celery.beat": "WARNING",
        "celery.worker.strategy": "WARNING",
        "celery.app.trace": "WARNING",
        "uvicorn": "INFO",
        "uvicorn.error": "INFO",
        "uvicorn.access": "WARNING",
        "django.server": "WARNING",
    },
)
