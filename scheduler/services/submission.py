"""
Submit a session: every rule is checked here, all faults are reported at once, and nothing is half done.

The same check answers the page's dry run, the API and the trace command.
"""

from __future__ import annotations

import dataclasses
import datetime
import shlex
import signal
import uuid
from typing import Any

from scheduler import errors, models
from scheduler.core import entities, states, units
from scheduler.core import errors as core_errors
from scheduler.selectors import permissions
from scheduler.services import actors, priorities
from scheduler.services import work as unit

_SCRIPT_LIMIT = 65_536
_INT4 = 2**31 - 1


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


def submit_session(actor: actors.Actor, request: SubmitRequest) -> models.Session:
    """
    Submit a session for the actor; it is PENDING, and a round is asked for.

    Raises:
        Refusal: with a sentence per field; nothing was written.
        NotVisible: the group is not one that the actor may see.
    """
    checked = check(actor, request)
    with unit.begin(actor) as work:
        session = models.Session.objects.create(
            owner=checked.owner,
            queue=checked.queue,
            group=checked.group,
            state=states.SessionState.PENDING.value,
            state_since=work.now,
            submitted_at=work.now,
            **checked.columns,
        )
        for kind, other in checked.dependencies:
            models.SessionDependency.objects.create(session=session, other=other, kind=kind)
        work.tell(
            "session.submitted",
            session=session,
            queue=checked.queue.slug,
            priority=session.priority,
            slots=session.slots,
        )
        work.ask_round(checked.group.pk)
    return session


def check_request(actor: actors.Actor, request: SubmitRequest) -> dict[str, str]:
    """Return field -> what is wrong with it, empty when ``submit_session`` would accept the request."""
    try:
        check(actor, request)
    except errors.Refusal as refusal:
        return refusal.fields or {"": str(refusal)}
    return {}


def check(actor: actors.Actor, request: SubmitRequest) -> Checked:
    """
    Check a request whole.

    Raises:
        Refusal: every fault found, by field.
    """
    if actor.user is None:
        raise errors.Refusal("A session needs an owner: submit as a person.", code="no-owner")
    found = _Faults()
    group = _group(actor.user, request, found)
    queue = _queue(actor.user, request, group, found)
    columns = _columns(actor.user, request, group=group, queue=queue, found=found)
    dependencies = _dependencies(actor.user, request, found)
    found.raise_if_any()
    assert group is not None
    assert queue is not None
    return Checked(actor.user, group, queue, columns, dependencies)


class _Faults(dict[str, str]):
    """Field -> what is wrong; collects the faults of a request."""

    def __init__(self) -> None:
        super().__init__()
        self.codes: list[str] = []

    def add(self, field: str, text: str, code: str = "invalid") -> None:
        self.setdefault(field, text)
        self.codes.append(code)

    def attempt(self, call: Any) -> Any:
        """Return the call's answer; a refusal of it is collected and answers None."""
        try:
            return call()
        except errors.Refusal as refusal:
            for field, text in refusal.fields.items():
                self.add(field, text, refusal.code)
        return None

    def raise_if_any(self) -> None:
        if self:
            text = " ".join(f"{field.replace('_', ' ')}: {fault}." for field, fault in self.items())
            raise errors.Refusal(text, code=self.codes[0], fields=self)


def _group(user: models.User, request: SubmitRequest, found: _Faults) -> models.ResourceGroup | None:
    group = permissions.visible_groups(user).select_related("policy").filter(slug=request.group).first()
    if group is None:
        found.add("group", f"there is no resource group {request.group!r} for you", "unknown-group")
    elif not permissions.can_submit(user, group):
        found.add("group", f"you may see {request.group}, but not submit to it", "not-allowed")
    return group


def _queue(
    user: models.User, request: SubmitRequest, group: models.ResourceGroup | None, found: _Faults
) -> models.Queue | None:
    if group is None:
        return None
    queue = group.queues.filter(slug=request.queue).first()
    if queue is None:
        names = ", ".join(group.queues.values_list("slug", flat=True)) or "none"
        found.add(
            "queue", f"there is no queue {request.queue!r} in {group.slug}; it has: {names}", "unknown-queue"
        )
    elif queue.state != entities.QueueState.OPEN:
        found.add("queue", f"queue {queue.slug} takes no submissions now", "queue-closed")
    elif not permissions.can_submit(user, group, queue):
        found.add("queue", f"you are not among the submitters of queue {queue.slug}", "not-allowed")
    return queue


def _columns(
    user: models.User,
    request: SubmitRequest,
    *,
    group: models.ResourceGroup | None,
    queue: models.Queue | None,
    found: _Faults,
) -> dict[str, Any]:
    columns = {
        "name": _name(request, found),
        "type": _choice("type", request.type, list(entities.SessionType), found),
        "exit_0_after_warning": _choice(
            "exit_0_after_warning", request.exit_0_after_warning, ["finished", "checkpointed"], found
        ),
        "environment": _environment(request.environment, found),
        "workdir": request.workdir,
        "required_labels": _labels(request.required_labels, found),
        "begin_at": request.begin_at,
        "is_held": request.is_held,
        "is_private": request.is_private,
        "restartable": request.type == "batch" if request.restartable is None else request.restartable,
    }
    columns |= _command(request, found) | _numbers(request, found)
    columns["slots"] = _slots(request.slots, found)
    if group is not None and queue is not None:
        columns |= _rights(user, request, group=group, queue=queue, found=found)
    return columns


def _rights(
    user: models.User,
    request: SubmitRequest,
    *,
    group: models.ResourceGroup,
    queue: models.Queue,
    found: _Faults,
) -> dict[str, Any]:
    policy = user.policy
    if (request.is_private or request.type == "system") and not permissions.can_create_private(user, group):
        found.add("type", "only managers of the group create private or system sessions", "not-allowed")
    return {
        "priority": found.attempt(lambda: priorities.priority_for(policy, queue, request.priority)),
        "priority_cap": priorities.cap(policy, queue),
        "is_preemptible": found.attempt(lambda: _opt_out(policy, group, request)),
    }


def _opt_out(
    policy: models.KeypairResourcePolicy | None, group: models.ResourceGroup, request: SubmitRequest
) -> bool:
    if request.is_preemptible is not None:
        return priorities.check_opt_out(policy, request.is_preemptible)
    may_opt_out = policy is None or policy.may_opt_out
    if request.type == entities.SessionType.INFERENCE and may_opt_out:
        return False
    return group.policy.default_is_preemptible if group.policy else True


def _name(request: SubmitRequest, found: _Faults) -> str:
    name = request.name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        found.add("name", "write a name of 1 to 100 printable characters")
    return name


def _choice(field: str, value: str, allowed: list[Any], found: _Faults) -> str:
    names = [str(item) for item in allowed]
    if value not in names:
        found.add(field, f"must be one of {', '.join(names)}")
    return value


def _command(request: SubmitRequest, found: _Faults) -> dict[str, Any]:
    if bool(request.argv) == bool(request.script.strip()):
        found.add("command", "write a command, or a script, and not both")
    if any("\x00" in part for part in [*request.argv, request.script]) or len(request.script) > _SCRIPT_LIMIT:
        found.add("command", "may hold no NUL character, and a script at most 64 KiB")
    return {"argv": list(request.argv), "script": request.script if request.script.strip() else ""}


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


def _environment(environment: dict[str, str], found: _Faults) -> dict[str, str]:
    for name, value in environment.items():
        if (
            not name.replace("_", "a").isalnum()
            or name[:1].isdigit()
            or not name.isascii()
            or "\x00" in value
        ):
            found.add("environment", f"{name!r} is not a variable's name, or its value holds a NUL character")
    return dict(environment)


def _labels(labels: dict[str, list[str]], found: _Faults) -> dict[str, list[str]]:
    for label, values in labels.items():
        if not label or not values:
            found.add("required_labels", "each label needs at least one accepted value")
    return {label: sorted(values) for label, values in labels.items()}


def _slots(wanted: dict[str, str], found: _Faults) -> dict[str, int]:
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


def _numbers(request: SubmitRequest, found: _Faults) -> dict[str, Any]:
    bounds = {
        "node_count": (1, 10_000),
        "warning_signal": (1, 64),
        "grace_period": (0, 86_400),
        "wall_limit": (1, _INT4),
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


def _dependencies(
    user: models.User, request: SubmitRequest, found: _Faults
) -> list[tuple[str, models.Session]]:
    rows = []
    for kind, public_id in request.dependencies:
        _choice("dependencies", kind, ["afterok", "afterany"], found)
        other = _visible(user, public_id)
        if other is None:
            found.add("dependencies", f"there is no session {public_id} that you may see")
        else:
            rows.append((kind, other))
    return rows


def _visible(user: models.User, public_id: str) -> models.Session | None:
    try:
        return permissions.require_session(user, uuid.UUID(str(public_id)))
    except (errors.NotVisible, ValueError):
        return None
