"""Write a preemption or a wait: decision, victims, edges, reservation, transitions and stop commands."""

from __future__ import annotations

import datetime
from collections.abc import Collection

from django.conf import settings
from django.db.models import Max, QuerySet

from scheduler import errors, models, points
from scheduler.core import decisions, entities, release, states
from scheduler.services import orders, recording, reservations, transitions, withdrawals
from scheduler.services import work as unit

#: Stable reason of every transition that a preemption causes (DESIGN section 3).
REASON = "PREEMPTED_BY_SCHEDULER"


def write(
    work: unit.Work,
    preempt: decisions.Preempt,
    *,
    preemptor: models.Session,
    victims: list[models.Session],
    record: recording.RoundRecord,
) -> models.Decision:
    """
    Write a preemption whose ground is locked and unchanged.

    Args:
        victims: in the order of ``preempt.victims``.
    """
    policy = preemptor.group.policy  # that of the snapshot: the committer holds it
    decision = recording.decision_row(
        work, preempt, preemptor, record=record, kind=models.Decision.Kind.PREEMPT
    )
    longest = max((order.grace_s for order in preempt.victims), default=0)
    deadline = _deadline(work, policy, longest, preempt.releasing_ids)
    inherited: list[models.Decision] = []
    if preempt.takes_over is not None:
        taken, inherited = _take_over(work, preempt.takes_over, preempt, decision)
        deadline = deadline if preempt.victims else taken
    reservation = reservations.create(decision, preempt, deadline=deadline)
    if inherited:
        reservation.inherits.set(inherited)
    work.tell(
        "decision.preempt",
        session=preemptor,
        decision=decision,
        victims=preempt.n_victims,
        axis=preempt.axis.value,
        value=preempt.preemptor_value,
        takes_over=preempt.takes_over is not None,
    )
    for position, (order, victim) in enumerate(zip(preempt.victims, victims, strict=True)):
        _victim_row(decision, preempt, position, victim=victim)
        models.PreemptionEdge.objects.create(decision=decision, winner=preemptor, loser=victim)
        _stop(work, order, victim, decision=decision, policy=policy)
    points.reach("preempt.written")
    return decision


def _victim_row(
    decision: models.Decision, preempt: decisions.Preempt, position: int, *, victim: models.Session
) -> None:
    order = preempt.victims[position]
    models.Victim.objects.create(
        decision=decision,
        session=victim,
        position=position,
        attempt=victim.attempt,
        epoch=victim.epoch,
        axis=preempt.axis.value,
        owner_id_then=victim.owner_id,
        preemptor_owner_id=decision.session.owner_id,
        own_value=order.own_value,
        preemptor_value=preempt.preemptor_value,
        action=order.action.value,
        mode=order.mode.value,
        signal=order.signal,
        grace_s=order.grace_s,
        started_at_then=victim.started_at,
    )


def _stop(
    work: unit.Work,
    order: decisions.VictimOrder,
    victim: models.Session,
    *,
    decision: models.Decision,
    policy: models.PolicyVersion,
) -> None:
    if order.action is decisions.Action.CANCEL_DISPATCH:
        orders.cancel_start(work, victim, decision=decision)
        return
    plan = orders.StopPlan(entities.PreemptionMode(order.mode), order.signal, order.grace_s, policy)
    transitions.transition_session(
        work,
        victim,
        states.Trigger.PREEMPT,
        reason=REASON,
        decision=decision,
        deadline=plan.deadline(work.now),
        columns={"stop_goal": plan.mode.value, "stop_releases": policy.suspend_releases},
        facts={"mode": plan.mode.value, "signal": plan.signal, "grace_s": plan.grace_s},
    )
    orders.stop(work, victim, plan, decision=decision)


def _take_over(
    work: unit.Work, reservation_id: int, preempt: decisions.Preempt, decision: models.Decision
) -> tuple[datetime.datetime, list[models.Decision]]:
    """
    End the reservation of a holder in favour of one that may preempt it.

    Returns:
        Its deadline, which stays in force unless a victim is added, and the decisions whose stops it counts on.

    Raises:
        StaleState: it is gone, or its holder is starting on it.
    """
    holder = models.Reservation.objects.filter(pk=reservation_id, is_consumed=False).first()
    if holder is None:
        raise errors.StaleState("the reservation to be taken over is gone")
    models.PreemptionEdge.objects.create(
        decision=decision, winner_id=decision.session_id, loser_id=holder.session_id
    )
    needed = {*preempt.releasing_ids, *preempt.victim_jobids}
    superfluous = holder.waits_for.exclude(pk__in=needed).exclude(promised_to__in=_others(holder))
    superfluous_ids = list(superfluous.values_list("pk", flat=True))
    inherited = [holder.decision, *holder.inherits.all()]
    reservations.end(work, holder, reservations.Kind.TRANSFERRED, "taken over")
    withdrawals.withdraw_taken_over(work, superfluous_ids, cause="no longer needed")
    return holder.deadline, inherited


def _others(holder: models.Reservation) -> QuerySet[models.Reservation]:
    return models.Reservation.objects.filter(node=holder.node_id, is_consumed=False).exclude(pk=holder.pk)


def write_wait(
    work: unit.Work, pend: decisions.Pend, *, session: models.Session, record: recording.RoundRecord
) -> None:
    """Reserve for a session that waits for what is already being stopped; nobody is stopped."""
    wait = pend.wait
    assert wait is not None
    policy = models.PolicyVersion.objects.get(pk=record.row().policy_id)
    decision = recording.decision_row(work, pend, session, record=record, kind=models.Decision.Kind.WAIT)
    deadline = _deadline(work, policy, policy.grace_period, wait.releasing_ids)
    reservations.create(decision, wait, deadline=deadline)
    work.tell("decision.wait", session=session, decision=decision)


def _deadline(
    work: unit.Work, policy: models.PolicyVersion, grace_s: int, releasing_ids: Collection[int]
) -> datetime.datetime:
    """
    Return when a reservation expires: the longest grace that it waits for, and the time of flight (DESIGN 5.6).

    A stop that was ordered before may have had a longer grace than those of now: its own deadline says so.
    """
    until = work.now + datetime.timedelta(seconds=grace_s)
    stops = models.Session.objects.filter(pk__in=releasing_ids).aggregate(latest=Max("state_deadline"))
    if stops["latest"] is not None:
        margin = datetime.timedelta(seconds=release.STOP_MARGIN_S * settings.TIME_SCALE)
        until = max(until, stops["latest"] - margin)
    return until + datetime.timedelta(seconds=policy.in_flight_timeout)


def placed_elsewhere(work: unit.Work, kept: models.Reservation) -> None:
    """End the reservation of a session that starts on other room, and take back what can be taken back."""
    withdrawals.give_up(work, kept, reservations.Kind.WITHDRAWN, cause="placed elsewhere")
