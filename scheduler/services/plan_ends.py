"""How planned changes of rules end: carried out, cancelled, overtaken by somebody's change, or impossible."""

from __future__ import annotations

from scheduler import models
from scheduler.services import work as unit

End = models.PlannedChange.End
_NAMES = {
    "preemption_state": "preemption",
    "preemption_mode": "what happens to a victim",
    "preemption_scope": "whose sessions may be stopped",
    "preemption_order": "who goes first",
}


def open_plan(group_id: int) -> models.PlannedChange | None:
    """Return the planned change of a group that is still to come. One query."""
    rows = models.PlannedChange.objects.filter(group_id=group_id, ended_at=None)
    return rows.select_related("created_by", "version").first()


def close(work: unit.Work, plan: models.PlannedChange, end: str, *, text: str = "") -> None:
    """End a plan; the caller holds the lock on its group's rules."""
    plan.end, plan.ended_at, plan.end_text = str(end), work.now, text[:500]
    plan.save(update_fields=["end", "ended_at", "end_text"])
    if end != End.DONE:
        facts = {"end": plan.end, "kind": plan.kind, "at": plan.at.isoformat(), "text": text}
        work.tell("group.plan_ended", group_id=plan.group_id, **facts)


def overtake(
    work: unit.Work,
    group: models.ResourceGroup,
    row: models.PolicyVersion,
    *,
    rules: set[str],
    except_id: int | None,
) -> None:
    """End the plan of a group one of whose rules was changed just now: it must overwrite nobody's later decision."""
    plan = open_plan(group.pk)
    if plan is None or plan.pk == except_id:
        return
    both = sorted(rules & set(plan.changes))
    if both:
        what = ", ".join(_NAMES.get(name, name.replace("_", " ")) for name in both)
        text = f"{row.created_by_name} changed {what} meanwhile, in version {row.version}"
        close(work, plan, End.OVERTAKEN, text=text)
