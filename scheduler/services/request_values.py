"""The values of a request for a session: each is checked, and each fault says what would be right."""

from __future__ import annotations

import signal
from typing import Any

from scheduler import models
from scheduler.core import entities, units
from scheduler.core import errors as core_errors
from scheduler.services import faults, priorities, session_requests

_SCRIPT_LIMIT = 65_536
_ARGUMENT_LIMIT = 4_096
_WORKDIR_LIMIT = 1_024
#: Of what an order to an agent may hold (`scheduler.protocol.commands`).
_MOST_ARGUMENTS, _MOST_VARIABLES, _VALUE_LIMIT, _VARIABLE_LIMIT = 4_096, 999, 131_072, 1_000
_LONGEST_WALL_S = 10 * 366 * 86_400


def columns(request: session_requests.SubmitRequest, found: faults.Faults) -> dict[str, Any]:
    """Return the session's columns that depend on nobody's rights; faults are collected in ``found``."""
    values = {
        "name": _name(request, found),
        "type": choice("type", request.type, list(entities.SessionType), found),
        "exit_0_after_warning": choice(
            "exit_0_after_warning", request.exit_0_after_warning, ["finished", "checkpointed"], found
        ),
        "environment": _environment(request.environment, found),
        "workdir": _workdir(request.workdir, found),
        "required_labels": _labels(request.required_labels, found),
        "begin_at": request.begin_at,
        "is_held": request.is_held,
        "is_private": request.is_private,
        "restartable": request.type == "batch" if request.restartable is None else request.restartable,
    }
    values |= _command(request, found) | _numbers(request, found)
    values["slots"] = _slots(request.slots, found)
    return values


def _name(request: session_requests.SubmitRequest, found: faults.Faults) -> str:
    name = request.name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        found.add("name", "write a name of 1 to 100 printable characters")
    return name


def choice(field: str, value: str, allowed: list[Any], found: faults.Faults) -> str:
    names = [str(item) for item in allowed]
    if value not in names:
        found.add(field, f"must be one of {', '.join(names)}")
    return value


def _command(request: session_requests.SubmitRequest, found: faults.Faults) -> dict[str, Any]:
    if bool(request.argv) == bool(request.script.strip()):
        found.add("command", "write a command, or a script, and not both")
    if any("\x00" in part for part in [*request.argv, request.script]) or len(request.script) > _SCRIPT_LIMIT:
        found.add("command", "may hold no NUL character, and a script at most 64 KiB")
    if any(len(part) > _ARGUMENT_LIMIT for part in request.argv):
        found.add("command", f"an argument may have at most {_ARGUMENT_LIMIT} characters; use a script")
    if len(request.argv) > _MOST_ARGUMENTS:
        found.add("command", f"may have at most {_MOST_ARGUMENTS} arguments; use a script")
    return {"argv": list(request.argv), "script": request.script if request.script.strip() else ""}


def _workdir(workdir: str, found: faults.Faults) -> str:
    if "\x00" in workdir or len(workdir) > _WORKDIR_LIMIT:
        found.add(
            "workdir", f"may hold no NUL character and at most {_WORKDIR_LIMIT} characters; empty is its own"
        )
    return workdir


def _environment(environment: dict[str, str], found: faults.Faults) -> dict[str, str]:
    for name, value in environment.items():
        if (
            not name.replace("_", "a").isalnum()
            or name[:1].isdigit()
            or not name.isascii()
            or "\x00" in value
        ):
            found.add("environment", f"{name!r} is not a variable's name, or its value holds a NUL character")
        if len(name) > _VARIABLE_LIMIT or len(value) > _VALUE_LIMIT:
            limits = f"a name at most {_VARIABLE_LIMIT} characters, a value {_VALUE_LIMIT}"
            found.add("environment", f"{name[:40]!r} is too long: {limits}")
    if len(environment) > _MOST_VARIABLES:
        found.add("environment", f"may hold at most {_MOST_VARIABLES} variables")
    return dict(environment)


def _labels(labels: dict[str, list[str]], found: faults.Faults) -> dict[str, list[str]]:
    for label, values in labels.items():
        if not label or not values:
            found.add("required_labels", "each label needs at least one accepted value")
        if any("\x00" in text for text in (label, *values)):
            found.add("required_labels", "labels and their values may hold no NUL character")
    return {label: sorted(values) for label, values in labels.items()}


def _slots(wanted: dict[str, str], found: faults.Faults) -> dict[str, int]:
    kinds = {
        row.name: units.SlotKind(row.name, row.scale, row.is_bytes, row.is_indexed, row.unit)
        for row in models.SlotKind.objects.all()
    }
    slots: dict[str, int] = {}
    for name, text in sorted(wanted.items()):
        kind = kinds.get(name)
        if kind is None:
            found.add(
                "slots",
                f"there is no slot kind {name!r}; there are: {', '.join(sorted(kinds))}",
                "unknown-kind",
            )
            continue
        try:
            amount = units.parse_amount(kind, str(text))
        except core_errors.BadAmount as error:
            found.add("slots", str(error), "bad-amount")
            continue
        if amount:
            slots[name] = amount
    if not slots and not found.get("slots"):
        found.add("slots", "ask for at least one slot, for example cpu 1")
    return slots


def _numbers(request: session_requests.SubmitRequest, found: faults.Faults) -> dict[str, Any]:
    bounds = {
        "node_count": (1, 10_000),
        "warning_signal": (1, 64),
        "grace_period": (0, 86_400),
        "wall_limit": (1, _LONGEST_WALL_S),
        "port": (1, 65_535),
    }
    columns: dict[str, Any] = {
        "job_priority": found.attempt(lambda: priorities.job_priority_for(request.job_priority))
    }
    for name, (least, most) in bounds.items():
        value = getattr(request, name)
        if value is not None:
            value = found.attempt(
                lambda n=name, v=value, a=least, z=most: priorities.whole_number(n, v, least=a, most=z)
            )
        columns[name] = value
    if columns["warning_signal"] in (signal.SIGKILL, signal.SIGSTOP):
        found.add("warning_signal", "SIGKILL and SIGSTOP cannot be a warning")
    return columns
