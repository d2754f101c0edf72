"""
What people do to a session: cancel, hold, release, suspend, resume, requeue, change its priorities.

Every function checks the actor's right, locks the session, and works in one transaction. Effective at the next round.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Q

from scheduler import errors, models
from scheduler.core import entities, states
from scheduler.selectors import permissions
from scheduler.services import (
    actors,
    claims,
    handovers,
    locks,
    orders,
    priorities,
    transitions,
    victims,
    withdrawals,
)
from scheduler.services import work as unit

S, T = states.SessionState, states.Trigger
Mode = entities.PreemptionMode


def _require(actor: actors.Actor, session: models.Session, what: str) -> None:
    if actor.user is None:
        return
    if permissions.sight(actor.user, session) == permissions.Sight.NONE:
        raise errors.NotVisible("There is no such session, or you may not see it.")
    permissions.require(permissions.can_act(actor.user, session), f"{what} somebody else's session")


def _refuse(session: models.Session, what: str) -> errors.Refusal:
    return errors.Refusal(f"A session that is {session.state} cannot be {what}.", code="wrong-state")


def cancel_session(actor: actors.Actor, session: models.Session, *, reason: str = "") -> None:
    """End a session: at once when it holds nothing, else TERMINATING until its end is proven."""
    _require(actor, session, "cancel")
    with unit.begin(actor) as work:
        row = locks.session(session.pk)
        facts = {"text": reason} if reason else {}
        if row.state == S.PENDING:
            transitions.transition_session(
                work, row, T.CANCEL_WAITING, reason="cancelled", result=states.Result.CANCELLED, facts=facts
            )
        elif states.can(S(row.state), T.CANCEL):
            _end(work, row, result=states.Result.CANCELLED, facts=facts)
        else:
            raise _refuse(row, "cancelled")
        withdrawals.holder_gone(work, row, cause="preemptor cancelled")


def _end(work: unit.Work, row: models.Session, *, result: states.Result, facts: dict[str, Any]) -> None:
    grace_s = orders.grace_s(row, row.group.policy)
    plan = orders.StopPlan(Mode.TERMINATE, row.warning_signal, grace_s, row.group.policy)
    transitions.transition_session(
        work,
        row,
        T.CANCEL,
        reason="cancelled",
        deadline=plan.deadline(work.now),
        columns={"end_result": result.value, "stop_goal": "end"},
        facts=facts,
    )
    victims.close(work, row, victims.Fate.STOPPED, {"cancelled": True})
    orders.kill(work, row)


def hold_session(actor: actors.Actor, session: models.Session) -> None:
    """Keep a waiting session from starting, or a suspended one from resuming, until it is released."""
    _set_held(actor, session, "hold")


def release_session(actor: actors.Actor, session: models.Session) -> None:
    """Let a held session start or resume again."""
    _set_held(actor, session, "release")


#: verb -> (held afterwards, its participle, the states in which it can be done)
_HOLDING = {
    "hold": (True, "held", (S.PENDING, S.SUSPENDED)),
    "release": (False, "released", (S.PENDING, S.SUSPENDED)),
    "resume": (False, "resumed", (S.SUSPENDED,)),
}


def _set_held(actor: actors.Actor, session: models.Session, verb: str) -> None:
    _require(actor, session, verb)
    is_held, participle, possible = _HOLDING[verb]
    with unit.begin(actor) as work:
        row = locks.session(session.pk)
        if row.state not in possible:
            raise _refuse(row, participle)
        if row.is_held == is_held:
            return
        transitions.touch(row, is_held=is_held, dispatch_failures=0)
        work.tell("session.held" if is_held else "session.released", session=row, changed=("is_held",))
        if is_held:
            withdrawals.holder_gone(work, row, cause="preemptor held")
            claims.end(work, row, cause="held")
        work.ask_round(row.group_id)


def suspend_session(actor: actors.Actor, session: models.Session) -> None:
    """Stop a running session where it is; it stays held and resumes only on release. No preemption."""
    _require(actor, session, "suspend")
    with unit.begin(actor) as work:
        row = locks.session(session.pk)
        if row.state != S.RUNNING:
            raise _refuse(row, "suspended")
        ask_stop(work, row, mode=Mode.SUSPEND, columns={"is_held": True})


def resume_session(actor: actors.Actor, session: models.Session) -> None:
    """Let a session that was suspended by a person go on when there is room."""
    _set_held(actor, session, "resume")


def requeue_session(actor: actors.Actor, session: models.Session) -> None:
    """Stop a running or suspended session and put it back into the queue; it starts anew, in its old place."""
    _require(actor, session, "requeue")
    with unit.begin(actor) as work:
        row = locks.session(session.pk)
        if row.state not in (S.RUNNING, S.SUSPENDED):
            raise _refuse(row, "requeued")
        ask_stop(work, row, mode=Mode.RESCHEDULE, columns={"is_held": False})


def ask_stop(
    work: unit.Work,
    row: models.Session,
    *,
    mode: Mode,
    columns: dict[str, Any],
    reason: str = "person",
) -> None:
    """Order a stop that is no preemption: the session is STOPPING until it is proven."""
    policy = row.group.policy
    signal = orders.SIGTSTP if mode is Mode.SUSPEND else row.warning_signal
    plan = orders.StopPlan(mode, signal, orders.grace_s(row, policy), policy)
    transitions.transition_session(
        work,
        row,
        T.STOP_ASKED,
        reason=reason,
        deadline=plan.deadline(work.now),
        columns={**columns, "stop_goal": mode.value, "stop_releases": policy.suspend_releases},
        facts={"mode": mode.value},
    )
    orders.stop(work, row, plan)


def change_session(
    actor: actors.Actor,
    session: models.Session,
    *,
    priority: object = None,
    job_priority: object = None,
    is_preemptible: object = None,
) -> None:
    """
    Change a session's priorities or its opt-out; None leaves a value as it is.

    Raises:
        Refusal: not a whole number, above the cap, or the policy does not let its owner opt out.
    """
    _require(actor, session, "change")
    if actor.user is not None:
        permissions.require(permissions.can_change(actor.user, session), "change somebody else's session")
    with unit.begin(actor) as work:
        locks.share_caps()
        actor = actors.with_policies_now(actor)
        row = locks.session(session.pk)
        if row.state == S.TERMINATED:
            raise _refuse(row, "changed")
        keypair = actor.keypair if actor.user_id == row.owner_id else None
        policy = keypair.policy if keypair and keypair.policy else row.owner.policy
        changes = priorities.changes(
            row, policy, priority=priority, job_priority=job_priority, is_preemptible=is_preemptible
        )
        if not changes:
            return
        before = {name: getattr(row, name) for name in changes}
        transitions.touch(row, **changes)
        facts = {"before": before, "after": changes}
        work.tell("session.changed", session=row, changed=tuple(sorted(changes)), **facts)
        _reconsider(work, row, changed=changes)
        work.ask_round(row.group_id)


def _reconsider(work: unit.Work, row: models.Session, *, changed: Collection[str]) -> None:
    """Take back what the change has made groundless: the edited preemptor's room, or the raised victim's stop."""
    withdrawals.holder_edited(work, row)
    claims.end(work, row, cause="edited")
    if {"priority", "job_priority"} & set(changed):
        models.PreemptionEdge.objects.filter(Q(winner=row) | Q(loser=row)).delete()
    victim = models.Victim.objects.filter(session=row, fate=None).select_related("decision__session").last()
    if victim is None or row.state != S.PREEMPTED or handovers.has_ground(victim):
        return
    cause = "victim raised" if row.is_preemptible else "victim opted out"
    withdrawals.withdraw_one(work, victim, cause=cause)
