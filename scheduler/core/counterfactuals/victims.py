"""
What would have spared a victim: the round of its decision again, with one value of the victim otherwise.

Spared means stopped for nobody in that round, not only not for this preemptor.

Why the searches are exact. Let one victim's value rise while the order between it and every value that it is
compared with stays: a decision that does not choose it goes on choosing the same set (its sums only get
worse), so the next decision finds the same ground, and so on; the round thus turns at most once, from stopped
to spared. The values that it is compared with are those of waiting sessions and, on the owner axis, of the
owner's other sessions; between them bisection is safe, at them each is tried. A search that ended at its
budget of steps is outside this proof, but the value given and the one below it were tried all the same.
Source: DESIGN 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scheduler.core import decisions, entities, snapshot, states
from scheduler.core.counterfactuals import answers, changes, reruns, searches

_SECOND = 1_000_000
_K = answers.Kind


def spared(
    view: snapshot.Snapshot, session_id: int, preemptor_id: int, *, rounds: reruns.Rounds
) -> answers.Answers:
    """
    Return what would have spared one victim.

    Args:
        view: the snapshot from which the decision was made.
        session_id: the victim.
        preemptor_id: the session for which it was stopped.
        rounds: the budget.

    Returns:
        Answers; ``is_same`` False and none found where the unchanged round does not stop it for that session.
    """
    asked = _Asked(view, session_id, rounds)
    found: list[answers.Counterfactual] = []
    try:
        stop = asked.recorded(preemptor_id)
        if stop is None:
            return answers.Answers(is_same=False)
        for question in _QUESTIONS:
            found.extend(question(asked, stop))
    except reruns.BudgetEnded:
        return answers.Answers(tuple(found), is_complete=False)
    return answers.Answers(tuple(found))


class _Asked:
    """One victim and what its rounds were found to do."""

    def __init__(self, view: snapshot.Snapshot, session_id: int, rounds: reruns.Rounds) -> None:
        self.view = view
        self.victim = changes.session(view, session_id)
        self._rounds = rounds
        self._known = {session_id}

    def recorded(self, preemptor_id: int) -> decisions.Preempt | None:
        """Run the unchanged round: return the stop of the victim for one session, None where there is none."""
        before = self._rounds.run(self.view)
        self._known |= {preemptor_id, *_all_victims(before)}
        stops = reruns.stops(before, self.victim.id)
        return next((stop for stop in stops if stop.preempting_jobid == preemptor_id), None)

    def stops(self, view: snapshot.Snapshot) -> list[decisions.Preempt]:
        """Return the stops of a round that hit the victim."""
        return self._rounds.stops_of(view, self.victim.id)

    def changed(self, **fields: object) -> snapshot.Snapshot:
        """Return the snapshot with other fields of the victim."""
        return changes.of_session(self.view, self.victim.id, **fields)

    def is_spared(self, **fields: object) -> bool:
        """Say whether other fields would have spared it."""
        return not self.stops(self.changed(**fields))

    def shown_by(self, below: dict[str, object], at: dict[str, object]) -> frozenset[int]:
        """
        Return the other sessions whose part in it an answer shows.

        Those are whom the round stops with the value given and did not stop without, and for whom the victim is
        stopped one step below; the two sides of the decision itself are known.
        """
        victims = _all_victims(self._rounds.run(self.changed(**at)))
        takers = {stop.preempting_jobid for stop in self.stops(self.changed(**below))}
        return frozenset((victims | takers) - self._known)


def _all_victims(found: list[decisions.Decision]) -> set[int]:
    return {v for d in found if isinstance(d, decisions.Preempt) for v in d.victim_jobids}


Found = Iterator[answers.Counterfactual]


def _opt_out(asked: _Asked, stop: decisions.Preempt) -> Found:
    if asked.victim.is_preemptible:
        yield answers.Counterfactual(_K.SPARED_OPT_OUT, asked.is_spared(is_preemptible=False))


def _value(asked: _Asked, stop: decisions.Preempt) -> Found:
    """Ask for the value that was compared: job_priority on the owner axis, priority on the queue axis."""
    victim = asked.victim
    if stop.axis is entities.Axis.OWNER:
        kind, name, own = _K.SPARED_JOB_PRIORITY, "job_priority", victim.job_priority
    else:
        kind, name, own = _K.SPARED_PRIORITY, "priority", victim.priority
    turns = _turns(asked, name, own)
    found = searches.least_range(turns, lambda value: asked.is_spared(**{name: value}))
    if found is None:
        yield answers.Counterfactual(kind, False, {"own": own})
        return
    facts: dict[str, int | str] = {"own": own, "value": found.least}
    if found.most is not None:
        facts["most"] = found.most
    others = asked.shown_by({name: found.least - 1}, {name: found.least})
    yield answers.Counterfactual(kind, True, facts, others)


def _turns(asked: _Asked, name: str, own: int) -> list[int]:
    """Return the values at which a comparison of the victim's value turns; above the last none does."""
    others = [s for s in asked.view.sessions if s.id != asked.victim.id]
    if name == "job_priority":
        own_sessions = [s for s in others if s.owner_id == asked.victim.owner_id]
        values = {s.job_priority + more for s in own_sessions for more in (0, 1)}
    else:
        values = {s.priority for s in others if s.state is states.SessionState.PENDING}
    return searches.turns_above(own, values, most=max(values, default=own))


def _later_start(asked: _Asked, stop: decisions.Preempt) -> Found:
    """Ask how much later a start would have left it within the minimum runtime, in whole seconds."""
    victim, least = asked.victim, asked.view.policy.min_runtime_s
    if not least or victim.state is not states.SessionState.RUNNING or victim.started_at is None:
        return
    over = asked.view.now - least * _SECOND - victim.started_at
    seconds = over // _SECOND + 1

    def start(later: int) -> dict[str, object]:
        assert victim.started_at is not None
        return {"started_at": victim.started_at + later * _SECOND}

    if asked.is_spared(**start(seconds)) and not asked.is_spared(**start(seconds - 1)):
        facts: dict[str, int | str] = {"seconds": seconds, "min_runtime": least}
        others = asked.shown_by(start(seconds - 1), start(seconds))
        yield answers.Counterfactual(_K.SPARED_LATER_START, True, facts, others)


_QUESTIONS: tuple[Callable[[_Asked, decisions.Preempt], Found], ...] = (_value, _later_start, _opt_out)
