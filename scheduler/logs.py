"""
Log lines that can be followed: each carries the ids of what it is about, in pages, Celery workers and agents alike.

``bound`` gives its ids to all lines of a block: a request, a task, a round. ``about`` gives them to one line. Lines are
text with the ids at their end, or one JSON object each. What is logged may come from outside: line breaks are escaped.
The standard library only: agents start often, and stay small.
"""

from __future__ import annotations

import contextlib
import contextvars
import datetime
import json
import logging
import types
from collections.abc import Iterator, Mapping
from typing import Any

_bound: contextvars.ContextVar[Mapping[str, str]] = contextvars.ContextVar(
    "ids of log lines", default=types.MappingProxyType({})
)


def ids() -> dict[str, str]:
    """Return the ids that lines carry here."""
    return dict(_bound.get())


@contextlib.contextmanager
def bound(**values: object) -> Iterator[None]:
    """Let all lines of a block carry some ids more."""
    token = _bound.set({**_bound.get(), **_as_text(values)})
    try:
        yield
    finally:
        _bound.reset(token)


def about(**values: object) -> dict[str, Any]:
    """Return the ``extra`` that lets one line carry some ids more."""
    return {"ids": _as_text(values)}


def config(*, is_json: bool, level: str = "INFO", levels: Mapping[str, str]) -> dict[str, Any]:
    """
    Return the set-up of a process for ``logging.config.dictConfig``: one handler, to standard error.

    Args:
        levels: logger -> the least that it tells, for those that tell too much.
    """
    formatter = f"{__name__}.{'JsonFormatter' if is_json else 'LineFormatter'}"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {name: {"level": least, "handlers": []} for name, least in levels.items()},
    }


class LineFormatter(logging.Formatter):
    """Time, level, logger, message, ids."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line, without the trace that may follow it."""
        record.message = _one_line(record.message)
        tail = "".join(f" {name}={_one_line(value)}" for name, value in _ids(record).items())
        return super().formatMessage(record) + tail


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, ids, trace."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        moment = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        told: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_ids(record),
        }
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told)


def _ids(record: logging.LogRecord) -> dict[str, str]:
    return {**_bound.get(), **getattr(record, "ids", {})}


def _as_text(values: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")
