"""
What would happen to a session if it were submitted now: one hypothetical round of the very core, nothing
written.

The answer is of this moment and reserves nothing. Variants of the request are tried the same way, so that a
suggestion is a tested one. Source: DESIGN 4, 7; ECOSYSTEM D.5.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler import clock, models
from scheduler.core import decisions, entities, explain, preview, resources
from scheduler.core import snapshot as core_snapshot
from scheduler.plugins import asking
from scheduler.selectors import session_rows
from scheduler.selectors import snapshot as snapshots
from scheduler.services import actors, submission

_ID = 1 << 62  # no row has it: the hypothetical session comes last among equals


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """
    What one hypothetical round decided.

    ``outcome`` is starts, stops (starts after stopping others), waits or never; ``nodes`` are names.
    """

    outcome: str
    nodes: tuple[str, ...]
    victims: int
    axis: str
    pend: Mapping[str, Any] | None  #: plain Pend, for waits and never


@dataclasses.dataclass(frozen=True, slots=True)
class Variant:
    """A changed request and what would become of it; ``change`` names what differs."""

    change: str
    value: int
    answer: Answer


@dataclasses.dataclass(frozen=True, slots=True)
class DryRun:
    """The answer for the request as it is, and for variants where it does not start at once."""

    answer: Answer
    variants: list[Variant]
    group: models.ResourceGroup
    queue: models.Queue
    columns: Mapping[str, Any]
    round_number: int
    at: datetime.datetime


def dry_run(actor: actors.Actor, request: submission.SubmitRequest) -> DryRun:
    """
    Return what would happen if the actor submitted this now.

    Raises:
        Refusal: the request would not be accepted; with a sentence per field.
    """
    checked = submission.check(actor, request)
    state = models.GroupRounds.objects.get(group=checked.group)
    loaded = snapshots.load_snapshot(checked.group, round_number=state.last_number + 1)
    session = _hypothetical(checked, loaded.snapshot)
    answer = _ask(loaded, session)
    return DryRun(
        answer=answer,
        variants=[]
        if answer.outcome == "starts"
        else list(_variants(loaded, session, cap=checked.columns["priority_cap"])),
        group=checked.group,
        queue=checked.queue,
        columns=checked.columns,
        round_number=state.last_number,
        at=clock.from_micros(loaded.snapshot.now),
    )


def _hypothetical(checked: submission.Checked, view: core_snapshot.Snapshot) -> entities.Session:
    row = models.Session(
        pk=_ID,
        owner=checked.owner,
        queue=checked.queue,
        group=checked.group,
        submitted_at=clock.from_micros(view.now),
        **checked.columns,
    )
    found = [_dependency(kind, other) for kind, other in checked.dependencies]
    return dataclasses.replace(session_rows.session_value(row, []), dependency=_worst(found))


def _dependency(kind: str, other: models.Session) -> entities.DependencyState:
    if not other.result:
        return entities.DependencyState.WAITING
    is_met = kind == "afterany" or other.result == "success"
    return entities.DependencyState.MET if is_met else entities.DependencyState.IMPOSSIBLE


def _worst(found: list[entities.DependencyState]) -> entities.DependencyState:
    order = (entities.DependencyState.IMPOSSIBLE, entities.DependencyState.WAITING)
    return next((state for state in order if state in found), entities.DependencyState.MET)


def _ask(loaded: snapshots.Loaded, session: entities.Session) -> Answer:
    view = loaded.snapshot
    owners = view.owners
    if session.owner_id not in {owner.id for owner in owners}:
        owners = (*owners, *snapshots.owners({session.owner_id}, loaded.promised_to_owners))
    others = tuple(one for one in view.sessions if one.id != session.id)
    asked = dataclasses.replace(view, sessions=(*others, session), owners=owners)
    found = [
        one
        for one in preview.collect(asked, policies=asking.policies_for(asked))
        if _is_about(one, session.id)
    ]
    return _answer(found, loaded.names)


def _is_about(decision: decisions.Decision, session_id: int) -> bool:
    if isinstance(decision, decisions.Preempt):
        return decision.preempting_jobid == session_id and not decision.is_shadow
    return decision.session_id == session_id


def _answer(found: list[decisions.Decision], names: Mapping[int, str]) -> Answer:
    for one in found:
        if isinstance(one, decisions.Dispatch):
            return Answer("starts", tuple(names[grant.node_id] for grant in one.grants), 0, "", None)
        if isinstance(one, decisions.Preempt) and one.victims:
            return Answer("stops", (names[one.node_id],), one.n_victims, one.axis.value, None)
    pend = next((one for one in found if isinstance(one, decisions.Pend)), None)
    if pend is None:
        pend = decisions.Pend(_ID, decisions.PendReason.NOT_EVALUATED, {})
    failed = {str(pend.reason), *explain.pend_also(pend.facts)}
    outcome = "never" if failed & decisions.NEVER_STARTS else "waits"
    return Answer(outcome, (), 0, "", core_snapshot.to_plain(pend))


def _variants(loaded: snapshots.Loaded, session: entities.Session, *, cap: int) -> Iterator[Variant]:
    """Try at most three cheaper or more urgent requests, those first that change least."""
    request = session.request.as_dict()
    for kind in ("cuda.device", "cpu"):
        amount = request.get(kind, 0)
        smaller = amount // 2
        if smaller and (kind != "cpu" or "cuda.device" not in request):
            slots = resources.ResourceVector({**request, kind: smaller})
            yield Variant(kind, smaller, _ask(loaded, dataclasses.replace(session, request=slots)))
    if cap > session.priority:
        yield Variant("priority", cap, _ask(loaded, dataclasses.replace(session, priority=cap)))
