"""
Sessions that a round cannot tell apart: as long as nothing changes, what one of them is told is true of all.

Ten thousand sessions that wait are of few kinds; each kind is looked at once after every change. Source:
PERFORMANCE 6.
"""

from __future__ import annotations

import dataclasses

from scheduler.core import context, decisions, entities, placement, records, states

Key = tuple[object, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """What a session was told."""

    answer: decisions.Dispatch | decisions.Pend
    is_for_shadow: bool  #: shadow plans for it once the round is over


def of(ctx: context.Context, session: entities.Session, passed: int) -> Key | None:
    """
    Return what the answer to a session depends on beside the ledger; None where something is its own.

    Args:
        passed: how many holders of reservations came before it in the line.
    """
    if (
        session.state is not states.SessionState.PENDING
        or session.is_held
        or session.begin_at is not None
        or session.dependency is not entities.DependencyState.MET
        or session.backoff
        or session.id in ctx.reservation_by_session
        or session.id in ctx.claim_by_session
        or ctx.has_lost(session.id)
    ):
        return None
    return (
        placement.shape(session),
        session.owner_id,
        session.queue_id,
        session.priority,
        session.job_priority,
        session.is_private,
        session.type,
        session.wall_limit_s,
        passed,
    )


def told_again(ctx: context.Context, known: Told, session_id: int) -> decisions.Pend:
    """Return what a session of the same kind was told, for another one."""
    answer = known.answer
    assert isinstance(answer, decisions.Pend)
    candidates = answer.candidates if records.has_space(ctx) else ()
    return decisions.Pend(session_id, answer.reason, answer.facts, answer.nodes, candidates)


def is_true_of_all(answer: decisions.Dispatch | decisions.Pend) -> bool:
    """Say whether an answer is one that asks for nothing and takes nothing."""
    return isinstance(answer, decisions.Pend) and answer.wait is None and answer.claim is None
