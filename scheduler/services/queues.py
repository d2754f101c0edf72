"""
Create, change and remove queues: XCE's ``QUEUE_UPDATE``.

A change is effective at the next round, and is refused whole, with a clear message, when a named queue or plug-in does
not exist, or when somebody else was faster. Each queue that changes is audited with the reason (P05).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from scheduler import errors, models
from scheduler.plugins import catalog
from scheduler.services import actors, audit, caps, checks, locks, priorities, queue_rules
from scheduler.services import work as unit

#: A queue's own columns that an administrator sets.
COLUMNS = (
    "description",
    "default_priority",
    "max_priority",
    "preemptible",
    "preempt_policy",
    "preemption_mode",
    "state",
    "max_concurrent_sessions",
    "max_slots",
)
#: What else they set, each a list of names: relation -> the column that names its rows.
NAMED = {"preemptible_queues": "slug", "submit_users": "username", "submit_teams": "name"}
FIELDS = (*COLUMNS, *NAMED)
_WHAT = {"preemptible_queues": "queue", "submit_users": "person", "submit_teams": "team"}


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants of one queue."""

    queue: models.Queue
    changes: Mapping[str, Any]  #: of ``FIELDS`` -> new value, for ``NAMED`` a list of names; the others stay
    expected_version: int | None = None  #: the version that it was made from; None = whatever is in force


def create_queue(
    actor: actors.Actor,
    slug: str,
    *,
    groups: Iterable[models.ResourceGroup],
    preemptible_queues: Iterable[str] = (),
    reason: str = "created",
    **columns: Any,
) -> models.Queue:
    """Create a queue that serves ``groups``; ``columns`` are the queue's own fields."""
    checks.require_administrator(actor, "create a queue")
    priorities.check_limits(columns, optional=("default_priority",))
    with unit.begin(actor) as work:
        queue = models.Queue(slug=slug, changed_at=work.now, changed_by_name=actor.name, **columns)
        checks.checked(queue)
        _check_policy(queue)
        queue.save()
        queue.groups.set(groups)
        queue.preemptible_queues.set(_named(queue, "preemptible_queues", preemptible_queues))
        after = {name: getattr(queue, name) for name in COLUMNS}
        after["preemptible_queues"] = sorted(preemptible_queues)
        audit.record_change(work, audit.Subject("queue", slug), before={}, after=after, reason=reason)
        _tell_groups(work, queue)
    return queue


def change_queue(
    actor: actors.Actor,
    queue: models.Queue,
    *,
    changes: Mapping[str, Any],
    reason: str,
    expected_version: int | None = None,
) -> models.Queue:
    """Change one queue; raises as ``change_queues``."""
    return change_queues(actor, [Wish(queue, changes, expected_version)], reason=reason)[0]


def change_queues(actor: actors.Actor, wishes: Collection[Wish], *, reason: str) -> list[models.Queue]:
    """
    Change the rules of queues, all of them or none; an audit row for each.

    Raises:
        NotAllowed: the actor is no administrator.
        NotVisible: one of the queues is gone.
        Conflict: one is no longer as it was seen; ``facts["current"]`` is it.
        Refusal: a value is not possible, a named row does not exist, nothing changes, or the reason is missing.
    """
    checks.require_administrator(actor, "change a queue")
    why = checks.checked_reason(reason)
    for wish in wishes:
        _check_fields(wish.changes)
    with unit.begin(actor) as work:
        if any("max_priority" in wish.changes for wish in wishes):
            locks.change_caps()
        changed = [pair for pair in _locked(wishes) if _changes(work, *pair, why)]
        if not changed:
            raise errors.Refusal("Nothing changes: the queue is like this already.", code="no-change")
        ruled = [row for row, wish in changed if queue_rules.FIELDS & set(wish.changes)]
        if ruled:
            queue_rules.reconsider(work, ruled)
        for row, wish in changed:
            if "max_priority" in wish.changes:
                caps.apply_queue(work, row)
            _tell_groups(work, row)
    return [row for row, _ in changed]


def remove_queue(
    actor: actors.Actor, queue: models.Queue, *, reason: str, expected_version: int | None = None
) -> None:
    """
    Remove a queue, and take it off the lists of the queues that name it, each with an audit row of its own.

    Raises:
        NotAllowed, NotVisible, Conflict: as ``change_queues``.
        Refusal: it has sessions, be they long over, or the reason is missing.
    """
    checks.require_administrator(actor, "remove a queue")
    why = checks.checked_reason(reason)
    with unit.begin(actor) as work:
        locks.change_caps()  # who submits now is waited for, and who comes then finds no such queue
        takers = models.Queue.objects.filter(preemptible_queues=queue)
        others = [Wish(other, {}) for other in takers]
        locked = _locked([Wish(queue, {}, expected_version), *others])
        rows = {row.pk: row for row, _ in locked}
        row = rows.pop(queue.pk)
        _check_unused(row)
        for other in rows.values():
            left = other.preemptible_queues.exclude(pk=row.pk).values_list("slug", flat=True)
            _changes(work, other, Wish(other, {"preemptible_queues": list(left)}), why)
            _tell_groups(work, other)
        before = {name: value_of(row, name) for name in FIELDS}
        audit.record_change(work, audit.Subject("queue", row.slug), before=before, after={}, reason=why)
        _tell_groups(work, row)
        row.delete()


def _check_unused(queue: models.Queue) -> None:
    count = queue.sessions.count()
    if count:
        text = (
            f"{queue.slug} has {count} session{'' if count == 1 else 's'}, some perhaps long over, whose records"
            " name it. Set it to stopped instead."
        )
        raise errors.Refusal(text, code="in-use")


def _locked(wishes: Collection[Wish]) -> list[tuple[models.Queue, Wish]]:
    """Return the queues by id, locked against other changes, each with what is wanted of it."""
    by_id = {wish.queue.pk: wish for wish in wishes}
    rows = models.Queue.objects.select_for_update(no_key=True).filter(pk__in=by_id).order_by("pk")
    found = [(row, by_id[row.pk]) for row in rows]
    gone = sorted(wish.queue.slug for wish in wishes if wish.queue.pk not in {row.pk for row, _ in found})
    if gone:
        raise errors.NotVisible(f"There is no queue {', '.join(gone)} any more.")
    for row, wish in found:
        if wish.expected_version not in (None, row.version):
            text = f"{row.changed_by_name} changed queue {row.slug} meanwhile (version {row.version})."
            raise errors.Conflict(text, current=row)
    return found


def _changes(work: unit.Work, row: models.Queue, wish: Wish, why: str) -> bool:
    """Write what differs, with its audit row; say whether anything does."""
    wanted = {name: sorted(set(value)) if name in NAMED else value for name, value in wish.changes.items()}
    before = {name: value_of(row, name) for name in wanted}
    after = {name: value for name, value in wanted.items() if value != before[name]}
    if not after:
        return False
    for name, value in after.items():
        if name in NAMED:
            getattr(row, name).set(_named(row, name, value))
        else:
            setattr(row, name, value)
    row.version += 1
    row.changed_at, row.changed_by_name = work.now, work.actor.name
    checks.checked(row)
    if "preempt_policy" in after:
        _check_policy(row)
    row.save()
    before = {name: before[name] for name in after}
    audit.record_change(work, audit.Subject("queue", row.slug), before=before, after=after, reason=why)
    return True


def value_of(queue: models.Queue, name: str) -> Any:
    """Return what one of ``FIELDS`` is now, a list of names sorted."""
    if name in NAMED:
        return sorted(getattr(queue, name).values_list(NAMED[name], flat=True))
    return getattr(queue, name)


def _check_fields(changes: Mapping[str, Any]) -> None:
    unknown = sorted(set(changes) - set(FIELDS))
    if unknown:
        raise errors.Refusal(code="invalid", fields=dict.fromkeys(unknown, "there is no such field"))
    priorities.check_limits(changes, optional=("default_priority",))
    for name, amount in (changes.get("max_slots") or {}).items():
        priorities.whole_number("max_slots", amount, least=0, most=2**63 - 1)
        if not models.SlotKind.objects.filter(name=name).exists():
            raise errors.Refusal(code="invalid", fields={"max_slots": f"there is no slot kind {name!r}"})


def _check_policy(queue: models.Queue) -> None:
    text = catalog.refusal(queue.preempt_policy) if queue.preempt_policy else ""
    if text:
        raise errors.Refusal(code="unknown-policy", fields={"preempt_policy": text})


def _named(queue: models.Queue, field: str, names: Iterable[str]) -> list[Any]:
    """Return the rows that a list of names means; each must exist, and a queue does not preempt from itself."""
    wanted, column = set(names), NAMED[field]
    if field == "preemptible_queues" and queue.slug in wanted:
        text = f"{queue.slug} cannot preempt from itself"
        raise errors.Refusal(code="invalid", fields={field: text})
    model = models.Queue._meta.get_field(field).related_model
    rows = list(model.objects.filter(**{f"{column}__in": wanted}))
    missing = sorted(wanted - {getattr(row, column) for row in rows})
    if missing:
        text = f"there is no {_WHAT[field]} {', '.join(missing)}"
        code = "unknown-queue" if field == "preemptible_queues" else "invalid"
        raise errors.Refusal(code=code, fields={field: text})
    return rows


def _tell_groups(work: unit.Work, queue: models.Queue) -> None:
    for group_id in queue.groups.values_list("pk", flat=True):
        work.tell("queue.changed", group_id=group_id, queue=queue.slug)
        work.ask_round(group_id)
