"""A request for a session as a person writes it, and the same with its names resolved."""

from __future__ import annotations

import dataclasses
import datetime
import shlex
from typing import Any

from scheduler import errors, models


@dataclasses.dataclass(frozen=True, kw_only=True)
class SubmitRequest:
    """
    What a person asks for, as they write it.

    Amounts are text (``{"cpu": "2", "mem": "4g"}``); exactly one of ``argv`` and ``script`` is filled.
    """

    name: str
    group: str
    queue: str
    type: str = "batch"
    argv: list[str] = dataclasses.field(default_factory=list)
    script: str = ""
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    workdir: str = ""
    slots: dict[str, str] = dataclasses.field(default_factory=dict)
    node_count: int = 1
    required_labels: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    priority: int | None = None
    job_priority: int = 10
    is_preemptible: bool | None = None
    warning_signal: int = 15
    grace_period: int | None = None
    exit_0_after_warning: str = "finished"
    restartable: bool | None = None
    begin_at: datetime.datetime | None = None
    wall_limit: int | None = None
    port: int | None = None
    is_held: bool = False
    is_private: bool = False
    dependencies: list[tuple[str, str]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Checked:
    """A request whose names are resolved and whose values are within their bounds."""

    owner: models.User
    group: models.ResourceGroup
    queue: models.Queue
    columns: dict[str, Any]
    dependencies: list[tuple[str, models.Session]]


def split_command(text: str) -> list[str]:
    """
    Split a command line into arguments as a POSIX shell would, without running one.

    Raises:
        Refusal: a quotation is not closed.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise errors.Refusal(code="invalid", fields={"command": f"cannot be read: {error}"}) from None
