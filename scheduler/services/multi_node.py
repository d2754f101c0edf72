"""
A session on several nodes: it ends when the last node has ended, and the first that fails ends the others (DESIGN 5.3).

A node that finished well leaves the others to their work.

What each node's end says is kept as the gravest so far, so that the order in which reports arrive changes nothing.
"""

from __future__ import annotations

from scheduler import models
from scheduler.core import entities, states
from scheduler.protocol import fields
from scheduler.services import orders, transitions
from scheduler.services import work as unit

S, R = states.SessionState, states.Result
#: The end follows the stop that was ordered.
FOLLOWS_STOP = "stop"
#: Nothing of the dispatch ran, or will.
UNDONE = "undone"
#: What one node's end can say of the whole session, mildest first; "" = it was swept away with another's.
GRAVITY = ("", R.SUCCESS.value, FOLLOWS_STOP, R.FAILURE.value, R.TIMEOUT.value, R.LOST.value, UNDONE)


def is_on_several(session: models.Session) -> bool:
    """Say whether more than one node has to answer for the session."""
    return session.node_count > 1


def is_being_swept(session: models.Session) -> bool:
    """Say whether what happened on one node ends the session on all."""
    return bool(session.ended_nodes) and session.end_result not in ("", R.SUCCESS.value)


def leaves_others(session: models.Session, node: models.Node) -> bool:
    """Say whether a session that has ended on one node may still run on others."""
    others = session.allocations.exclude(node__in=[*session.ended_nodes, node.pk])
    return is_on_several(session) and others.exists()


def was_swept(session: models.Session, cause: fields.EndCause) -> bool:
    """Say whether an end on one node only came from the end on another."""
    is_ending = session.state in states.BEING_STOPPED and session.stop_goal != entities.PreemptionMode.SUSPEND
    return is_being_swept(session) and cause != fields.EndCause.SELF and not is_ending


def is_graver(session: models.Session, how: str) -> bool:
    """Say whether a node's end says more of the whole session than those that are known; the first always does."""
    if not session.ended_nodes or session.state == S.TERMINATING:
        return not session.ended_nodes
    return GRAVITY.index(how) > GRAVITY.index(session.end_result)


def gravest(
    work: unit.Work, session: models.Session, node: models.Node, *, how: str, reason: str
) -> tuple[str, str] | None:
    """
    Note that nothing of a session is left on one node, and order the end on the others.

    Returns:
        How the session as a whole ended, and the reason, when this was the last node; None while others are to come.
    """
    if not is_on_several(session):
        return how, reason
    if node.pk in session.ended_nodes:
        return None
    changes = {"ended_nodes": sorted({*session.ended_nodes, node.pk})}
    is_asked = session.state == S.TERMINATING
    if not is_asked and GRAVITY.index(how) > GRAVITY.index(session.end_result):
        changes |= {"end_result": how, "result_reason": reason[:64]}
    transitions.touch(session, **changes)
    rest = set(session.allocations.values_list("node_id", flat=True)) - set(session.ended_nodes)
    if rest and how == R.SUCCESS and not is_asked:
        return None
    if rest:
        orders.kill(work, session, grace=0, node_ids=sorted(rest - _ending(session)))
        return None
    return ("", "asked") if is_asked else (session.end_result, session.result_reason)


def _ending(session: models.Session) -> set[int]:
    """Return the nodes that have been told already to end the session; their grace stays theirs."""
    kinds = [models.AgentCommand.Kind.KILL]
    if session.stop_goal != entities.PreemptionMode.SUSPEND:
        kinds.append(models.AgentCommand.Kind.STOP)
    rows = models.AgentCommand.objects.filter(session=session, kind__in=kinds, settled_at=None)
    return set(rows.values_list("node_id", flat=True))
