"""Run a ``select`` case: one round of the core on its picture."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.core import decisions, rounds, states
from scheduler.plugins import asking
from scheduler.scenarios import answers, entries, picture

Outcome = answers.Outcome
#: Of one who holds a reservation already.
_AWAITING = (decisions.PendReason.AWAITING_VICTIMS, decisions.PendReason.AWAITING_RELEASE)


def run(case: entries.Case) -> dict[str, answers.Answer]:
    """
    Return the answer for each session that waits, those that were pending first, in the order of the case.

    A suspended one that is stopped for another has none.
    """
    shown = picture.Picture(case)
    found: list[decisions.Decision] = []
    view = shown.snapshot()
    rounds.run_round(view, found.append, policies=asking.policies_for(view))
    named = _Named(shown)
    stops = {d.preempting_jobid: d for d in found if isinstance(d, decisions.Preempt)}
    by_id = {d.session_id: d for d in found if not isinstance(d, decisions.Preempt)}
    resting = [one for one in case.running if one.state is states.SessionState.SUSPENDED]
    ids = {one.id: shown.sessions[one.id] for one in (*case.pending, *resting)}
    return {name: named.answer(by_id[pk], stops.get(pk)) for name, pk in ids.items() if pk in by_id}


class _Named:
    """Decisions in the names of the case."""

    def __init__(self, shown: picture.Picture) -> None:
        self._nodes = {node_id: name for name, node_id in shown.nodes.items()}
        self._sessions = {session_id: name for name, session_id in shown.sessions.items()}
        self._order = shown.policy.order
        self._tells_shadow = shown.case.tells_shadow
        self._kept = {shown.sessions[kept.session]: kept.node for kept in shown.case.reservations}

    def answer(
        self, answer: decisions.Dispatch | decisions.Pend, stop: decisions.Preempt | None
    ) -> answers.Answer:
        if isinstance(answer, decisions.Dispatch):
            target = ",".join(sorted(self._nodes[grant.node_id] for grant in answer.grants))
            return answers.Answer(Outcome.PLACE, target=target)
        reason = str(answer.reason)
        if stop is not None and (self._tells_shadow or not stop.is_shadow):
            rule = answers.rule_in_force(stop.axis, self._order, stop.policy_name)
            victims = self._names(stop.victim_jobids)
            outcome = Outcome.PREEMPT if victims else Outcome.WAIT
            return answers.Answer(outcome, victims, self._nodes[stop.node_id], rule, reason)
        if answer.wait is not None:
            return answers.Answer(Outcome.WAIT, target=self._nodes[answer.wait.node_id], reason=reason)
        if answer.reason in _AWAITING:
            return answers.Answer(Outcome.WAIT, target=self._kept.get(answer.session_id, ""), reason=reason)
        return answers.Answer(Outcome.PEND, reason=reason)

    def _names(self, ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(sorted(self._sessions[session_id] for session_id in ids))
