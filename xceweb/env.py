"""
The one table of environment variables: name, type, default, meaning.

``read`` reports every missing or malformed variable at once and stops; nothing else reads ``os.environ`` for settings.
"""

from __future__ import annotations

import dataclasses
import os
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any


class BadEnvironment(SystemExit):
    """Some variables are missing or malformed; the message lists all of them."""


def _text(value: str) -> str:
    return value


def _url(value: str) -> str:
    if not urllib.parse.urlsplit(value).scheme:
        raise ValueError("must be a URL such as scheme://host:port/name")
    return value


def _list(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]


def _positive_float(value: str) -> float:
    number = float(value)
    if number <= 0:
        raise ValueError("must be above zero")
    return number


def _natural(value: str) -> int:
    number = int(value)
    if number < 0:
        raise ValueError("must be zero or more")
    return number


def _level(value: str) -> str:
    if value.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise ValueError("must be debug, info, warning or error")
    return value.upper()


def _switch(value: str) -> bool:
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("0", "false", "no", "off", ""):
        return False
    raise ValueError("must be true or false")


@dataclasses.dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable. ``default`` None = required."""

    name: str
    parse: Callable[[str], Any]
    default: str | None
    meaning: str


VARIABLES = (
    Variable("SECRET_KEY", _text, None, "signs cookies and tokens; at least 32 random characters"),
    Variable("DATABASE_URL", _url, None, "PostgreSQL, postgresql://user:password@host:port/name"),
    Variable("REDIS_URL", _url, None, "Redis or Valkey for live hints, redis://:password@host:port/0"),
    Variable("BROKER_URL", _url, "", "Celery's broker (Redis or RabbitMQ); empty = REDIS_URL"),
    Variable("XCE_PUBLIC_URL", _url, "http://127.0.0.1:8000", "where people reach the pages"),
    Variable("XCE_ALLOWED_HOSTS", _list, "127.0.0.1,localhost", "host names, comma-separated"),
    Variable("XCE_DATA_DIR", _text, ".xce", "where a single-machine installation keeps its state"),
    Variable("XCE_STATIC_ROOT", _text, "", "where collectstatic writes; empty = XCE_DATA_DIR/static"),
    Variable("XCE_TIME_SCALE", _positive_float, "1", "scales the machine's own timers; tests use 0.05"),
    Variable(
        "XCE_KEEP_SNAPSHOTS_DAYS", _natural, "90", "days that snapshots of rounds are kept; 0 = for ever"
    ),
    Variable(
        "XCE_API_REQUESTS_PER_MINUTE", _natural, "12000", "requests a minute of one keypair; 0 = any number"
    ),
    Variable(
        "XCE_LIVE_PER_PERSON", _natural, "50", "live connections of one person to a server; 0 = any number"
    ),
    Variable(
        "XCE_LIVE_PER_ADDRESS",
        _natural,
        "2000",
        "live connections from one address to a server; 0 = any number",
    ),
    Variable(
        "XCE_CONFIRM_ABOVE_VICTIMS",
        _natural,
        "5",
        "a switch that stops more sessions takes the typed name of the group",
    ),
    Variable(
        "XCE_FRESH_LOG_IN_MINUTES",
        _natural,
        "30",
        "older log-ins prove themselves to switch preemption on; 0 = none do",
    ),
    Variable("XCE_DEMO_STREAM", _switch, "true", "whether a demo cluster submits sessions of its own"),
    Variable("XCE_LOG_JSON", _switch, "false", "one JSON object a log line"),
    Variable("XCE_LOG_LEVEL", _level, "INFO", "least that is logged; without it commands log warnings only"),
)


def read(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """
    Return name -> parsed value for the whole table.

    Raises:
        BadEnvironment: with one line per missing or malformed variable.
    """
    values: dict[str, Any] = {}
    faults: list[str] = []
    for variable in VARIABLES:
        text = environ.get(variable.name, variable.default)
        if text is None:
            faults.append(f"{variable.name} is not set: {variable.meaning}")
            continue
        try:
            values[variable.name] = variable.parse(text) if text or variable.parse is _list else text
        except ValueError as error:
            faults.append(f"{variable.name}={text!r}: {error} ({variable.meaning})")
    if faults:
        raise BadEnvironment("The environment is not complete:\n  " + "\n  ".join(faults))
    values["BROKER_URL"] = values["BROKER_URL"] or values["REDIS_URL"]
    return values
