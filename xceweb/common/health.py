"""
Health: whether this process lives, whether pages can be served, and what else is not as it should be.

``/readyz`` fails for what no page can do without: a load balancer takes a server out by it. The machine behind may be
away while pages go on to show what is (RELIABILITY P14), so the other checks fail at addresses of their own, such as
``/readyz/scheduler``, and in ``/readyz?verbose``. Strangers are told names; why something fails, administrators alone.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import logging
from collections.abc import Callable

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django import http
from django.contrib.auth import decorators
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.views.decorators import http as methods

import scheduler
from scheduler.selectors import health, permissions

log = logging.getLogger(__name__)
_HINT_S = 1.0


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that is looked at; ``problem`` returns what is wrong, empty when nothing is."""

    name: str
    problem: Callable[[], str]
    is_needed: bool = False  #: by every page


@decorators.login_not_required
@methods.require_safe
def livez(request: http.HttpRequest) -> http.HttpResponse:
    """Say that this process answers; asks nothing else."""
    if "verbose" in request.GET:
        return _answer("[+]process ok\nlivez check passed\n")
    return http.JsonResponse({"status": "alive"})


@decorators.login_not_required
@methods.require_safe
def version(request: http.HttpRequest) -> http.JsonResponse:
    """Say which release this is, and which API it speaks."""
    return http.JsonResponse({"version": scheduler.VERSION, "api": "v1"})


@decorators.login_not_required
@methods.require_safe
def readyz(request: http.HttpRequest) -> http.HttpResponse:
    """Say whether pages can be served (200) or what is missing (503); with ``?verbose`` a line for each check."""
    is_verbose = "verbose" in request.GET
    found = _look([check for check in CHECKS if is_verbose or check.is_needed])
    missing = [check.name for check in CHECKS if check.is_needed and found[check.name]]
    status = 503 if missing else 200
    if is_verbose:
        lines = [_line(name, problem, _may_know(request, found)) for name, problem in found.items()]
        verdict = "readyz check failed" if missing else "readyz check passed"
        return _answer("\n".join([*lines, verdict, ""]), status)
    if not missing:
        return http.JsonResponse({"status": "ready"})
    detail = {"detail": found[missing[0]]} if _may_know(request, found) else {}
    return http.JsonResponse({"status": "not ready", "failed": missing, **detail}, status=status)


@decorators.login_not_required
@methods.require_safe
def readyz_check(request: http.HttpRequest, name: str) -> http.HttpResponse:
    """Say whether one thing is as it should be (200) or not (503)."""
    chosen = [check for check in CHECKS if check.name == name]
    if not chosen:
        raise http.Http404("no such check")
    found = _look([CHECKS[0], *chosen])
    text = _line(name, found[name], _may_know(request, found))
    return _answer(f"{text}\n", 503 if found[name] else 200)


def problems() -> dict[str, str]:
    """Return every check -> what is wrong, empty where nothing is; for administrators alone."""
    return _look(list(CHECKS))


def _look(checks: list[Check]) -> dict[str, str]:
    """Return check -> what is wrong, of the first of them, the database, and of others as long as that answers."""
    found: dict[str, str] = {}
    for check in checks:
        is_blind = bool(found.get("database"))
        found[check.name] = found["database"] if is_blind else _problem(check)
    return found


def _problem(check: Check) -> str:
    try:
        return check.problem()
    except DatabaseError as error:
        log.warning("check %s: %s", check.name, error)
        return "the database does not answer"


def _may_know(request: http.HttpRequest, found: dict[str, str]) -> bool:
    """Say whether the reader may read why: an administrator, as long as one can be recognised."""
    return not found.get("database") and permissions.is_administrator(request.user)


def _line(name: str, problem: str, may_know: bool) -> str:
    if not problem:
        return f"[+]{name} ok"
    return f"[-]{name} failed: {problem if may_know else 'reason withheld'}"


def _answer(text: str, status: int = 200) -> http.HttpResponse:
    return http.HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _migrations() -> str:
    missing = _on_disk() - set(MigrationRecorder(connection).applied_migrations())
    return f"{len(missing)} migrations are not applied: run migrate" if missing else ""


@functools.cache
def _on_disk() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations)


def _hints() -> str:
    try:
        async_to_sync(_hint)()
    except Exception as error:  # noqa: BLE001 - whatever the client of the store raises
        log.warning("check hints: %s", error)
        return "the store of live hints does not answer: pages are told up to 5 s later"
    return ""


async def _hint() -> None:
    layer = get_channel_layer()
    await asyncio.wait_for(layer.group_send("xce.health", {"type": "health"}), _HINT_S)


#: The database first: the others ask it.
CHECKS = (
    Check("database", _database, is_needed=True),
    Check("migrations", _migrations, is_needed=True),
    Check("hints", _hints),
    Check("scheduler", health.scheduler_problem),
    Check("outbox", health.outbox_problem),
)
