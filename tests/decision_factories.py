"""Django rows of rounds, decisions with their core records, and reasons of waits, with sensible defaults."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from scheduler import models
from scheduler.core import decisions, entities, resources, snapshot
from tests import model_factories

_rounds = itertools.count(1)


def a_round(group: models.ResourceGroup, **fields: Any) -> models.Round:
    """Make a stored round of a group, without its snapshot."""
    values = {
        "number": next(_rounds),
        "policy": group.policy,
        "core_version": "1",
        "digest": "0" * 64,
        "at": timezone.now(),
        "duration_ms": 3,
    }
    return models.Round.objects.create(group=group, **{**values, **fields})


def a_preemption(
    preemptor: models.Session,
    victims: Iterable[models.Session],
    *,
    node: models.Node,
    axis: str = "owner",
    kind: str = "preempt",
    not_chosen: Iterable[decisions.CandidateView] = (),
) -> models.Decision:
    """Make the stored decision, with record and victims, that stops ``victims`` for ``preemptor``."""
    victims = list(victims)
    field = "job_priority" if axis == "owner" else "priority"
    record = _record(preemptor, victims, (node, axis, field), tuple(not_chosen))
    decision = models.Decision.objects.create(
        round=a_round(preemptor.group, preempted=1),
        group=preemptor.group,
        session=preemptor,
        op=decisions.DecisionOp.PREEMPT,
        kind=kind,
        axis=axis,
        policy_name=record.policy_name,
        node=node,
        attempt=preemptor.attempt,
        preemptor_value=record.preemptor_value,
        record=snapshot.to_plain(record),
        at=timezone.now(),
    )
    for position, (order, victim) in enumerate(zip(record.victims, victims, strict=True)):
        _victim_row(decision, (position, order), victim)
    return decision


def _record(
    preemptor: models.Session,
    victims: list[models.Session],
    how: tuple[models.Node, str, str],
    not_chosen: tuple[decisions.CandidateView, ...],
) -> decisions.Preempt:
    node, axis, field = how
    request = resources.ResourceVector(preemptor.slots)
    own_value = getattr(preemptor, field)
    mode = entities.PreemptionMode(preemptor.group.policy.preemption_mode)
    selected = tuple(
        decisions.CandidateView(
            victim.id,
            (node.id,),
            decisions.Verdict.SELECTED,
            {"own": getattr(victim, field), "theirs": own_value},
        )
        for victim in victims
    )
    return decisions.Preempt(
        preempting_jobid=preemptor.id,
        victims=tuple(_order(victim, mode, getattr(victim, field)) for victim in victims),
        axis=entities.Axis(axis),
        policy_name="owner_job_priority" if axis == "owner" else "lowest_priority_first",
        node_id=node.id,
        slots=request,
        draw=resources.EMPTY,
        draw_indices={},
        releasing_ids=(),
        preemptor_value=own_value,
        nodes=(decisions.NodeView(node.id, resources.EMPTY, resources.EMPTY, request, 0, ""),),
        candidates=selected + not_chosen,
        is_shadow=False,
        is_fewest_proved=True,
        search_steps=1,
    )


def _order(victim: models.Session, mode: entities.PreemptionMode, value: int) -> decisions.VictimOrder:
    is_suspend = mode is entities.PreemptionMode.SUSPEND
    return decisions.VictimOrder(
        session_id=victim.id,
        action=decisions.Action.SUSPEND if is_suspend else decisions.Action.KILL,
        mode=mode,
        signal=20 if is_suspend else 15,
        grace_s=2 if is_suspend else 10,
        own_value=value,
        frees=resources.ResourceVector(victim.slots),
    )


def _victim_row(
    decision: models.Decision, place: tuple[int, decisions.VictimOrder], victim: models.Session
) -> None:
    position, order = place
    models.Victim.objects.create(
        decision=decision,
        session=victim,
        position=position,
        attempt=victim.attempt,
        epoch=victim.epoch,
        axis=decision.axis,
        owner_id_then=victim.owner_id,
        preemptor_owner_id=decision.session.owner_id,
        own_value=order.own_value,
        preemptor_value=decision.preemptor_value,
        action=order.action.value,
        mode=order.mode.value,
        signal=order.signal,
        grace_s=order.grace_s,
        started_at_then=victim.started_at,
    )


def a_pend_reason(session: models.Session, reason: str = "no-resources", **fields: Any) -> models.PendReason:
    """Make the explanation of a wait."""
    values = {"since": model_factories.ago(30), "seen_at": model_factories.ago(1), "facts": {}}
    return models.PendReason.objects.create(session=session, reason=reason, **{**values, **fields})
