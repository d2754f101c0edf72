"""
What would help a waiting session: the round again, with its request, its rank, the switch or the time
otherwise.

Why the searches are exact. What a round did before it comes to a session does not depend on that session's
request, and placement, limits and checks only get easier with less: one bisection by kind. Its priority and
its job priority are compared with those of other sessions and nothing else: between two of these values
nothing changes, so only they are tried, lowest first. Source: DESIGN 7; ECOSYSTEM D.4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping

from scheduler.core import decisions, entities, ordering, resources, snapshot, states, units
from scheduler.core.counterfactuals import answers, changes, reruns, searches

_R, _K = decisions.PendReason, answers.Kind
#: Steps of a scaled request, in percent.
PERCENT = 5
#: Protected candidates that are tried.
MOST_MOMENTS = 8
_TOO_LARGE = frozenset({_R.NEVER_FITS, _R.EXCEEDS_OWNER_LIMIT, _R.EXCEEDS_QUEUE_LIMIT})
#: Headlines about which there is something to ask.
ASKED = _TOO_LARGE | {
    *decisions.SHORT_OF_SLOTS,
    _R.HOLDS_CLAIM,
    _R.ROOM_CLAIMED,
    _R.OWNER_LIMIT,
    _R.QUEUE_LIMIT,
    _R.POLICY_FAILED,
}


@dataclasses.dataclass(frozen=True, slots=True)
class About:
    """What a person may do, and what is known of the kinds."""

    priority_cap: int = 100
    kinds: Mapping[str, units.SlotKind] = dataclasses.field(default_factory=lambda: units.BUILT_IN)
    visible: Collection[int] | None = None  #: sessions that may be spoken of; None = all


def would_help(
    view: snapshot.Snapshot, session_id: int, *, rounds: reruns.Rounds, about: About | None = None
) -> answers.Answers:
    """
    Return what would let one pending session start, or make room for it.

    Returns:
        Answers; none found where the session is not kept by a shortage or a limit.
    """
    about = about or About()
    session = changes.session(view, session_id)
    found: list[answers.Counterfactual] = []
    if session.state is not states.SessionState.PENDING:
        return answers.Answers()
    try:
        asked = _Asked(view, session, rounds, about)
        asked.now = rounds.of_waiting(view, session_id)
        if asked.now.reason in ASKED:
            for question in _of_size if asked.now.reason in _TOO_LARGE else _QUESTIONS:
                found.extend(question(asked))
    except reruns.BudgetEnded:
        return answers.Answers(tuple(found), is_complete=False)
    return answers.Answers(tuple(found))


class _Asked:
    """One waiting session and the questions' common ground."""

    def __init__(
        self, view: snapshot.Snapshot, session: entities.Session, rounds: reruns.Rounds, about: About
    ) -> None:
        self.view, self.session, self.about = view, session, about
        self._rounds = rounds
        self.now = reruns.Fate(answers.Outcome.WAITS)

    def fate(self, view: snapshot.Snapshot) -> reruns.Fate:
        """Return what a round does for the session on a changed snapshot."""
        return self._rounds.of_waiting(view, self.session.id)

    def changed(self, **fields: object) -> snapshot.Snapshot:
        """Return the snapshot with other fields of the session."""
        return changes.of_session(self.view, self.session.id, **fields)

    def starts(self, **fields: object) -> bool:
        """Say whether other fields let it start at once."""
        return self.fate(self.changed(**fields)).outcome is answers.Outcome.STARTS


Found = Iterator[answers.Counterfactual]

# Less


def _less(asked: _Asked) -> Found:
    for kind, amount in asked.session.request:
        step = searches.step_of(kind, amount, asked.about.kinds)

        def starts(steps: int, kind: str = kind, step: int = step) -> bool:
            return asked.starts(request=_with(asked.session.request, {kind: steps * step}))

        least, most = _tried(asked, kind), (amount - 1) // step
        if most < least:
            continue
        steps = searches.largest(least, most, starts)
        facts: dict[str, int | str] = {"kind": kind, "asked": amount, "step": step, "least": least * step}
        if steps is not None:
            facts["value"] = steps * step
        yield answers.Counterfactual(_K.STARTS_WITH_LESS, steps is not None, facts)


def _tried(asked: _Asked, kind: str) -> int:
    """Return the least number of steps that is tried: of what is counted in pieces none at all, beside other kinds."""
    known = asked.about.kinds.get(kind)
    is_counted = known is not None and known.scale == 1 and not known.is_bytes
    return 0 if is_counted and len(asked.session.request.kinds()) > 1 else 1


def _with(request: resources.ResourceVector, amounts: Mapping[str, int]) -> resources.ResourceVector:
    return resources.ResourceVector({**request.as_dict(), **amounts})


def scaled(
    request: resources.ResourceVector, percent: int, kinds: Mapping[str, units.SlotKind]
) -> resources.ResourceVector:
    """Return a share of a request: every kind rounded down to its step, but never to nothing."""
    amounts = {}
    for kind, amount in request:
        step = searches.step_of(kind, amount, kinds)
        amounts[kind] = max(amount * percent // 100 // step, 1) * step
    return resources.ResourceVector(amounts)


def _scaled(asked: _Asked) -> Found:
    request, kinds = asked.session.request, asked.about.kinds
    if len(request.kinds()) < 2:
        return

    def starts(parts: int) -> bool:
        return asked.starts(request=scaled(request, parts * PERCENT, kinds))

    parts = searches.largest(1, 100 // PERCENT - 1, starts)
    facts: dict[str, int | str] = {f"asked.{kind}": amount for kind, amount in request}
    facts["step"] = PERCENT
    if parts is not None:
        facts["percent"] = parts * PERCENT
        facts |= {f"value.{kind}": amount for kind, amount in scaled(request, parts * PERCENT, kinds)}
    yield answers.Counterfactual(_K.STARTS_SCALED, parts is not None, facts)


def _fewer_nodes(asked: _Asked) -> Found:
    most = asked.session.node_count
    if most < 2:
        return
    # One node less moves it in the line, where it then competes with its owner's other sessions: all are tried.
    value = searches.first(range(most - 1, 0, -1), lambda count: asked.starts(node_count=count))
    facts: dict[str, int | str] = {"asked": most} if value is None else {"asked": most, "value": value}
    yield answers.Counterfactual(_K.STARTS_ON_FEWER_NODES, value is not None, facts)


# Rank and switch


def _switch(asked: _Asked) -> Found:
    if asked.view.policy.state is entities.PreemptionState.ON:
        return
    fate = asked.fate(changes.of_policy(asked.view, state=entities.PreemptionState.ON))
    facts: dict[str, int | str] = _facts(fate) if fate.has_room else {}
    yield answers.Counterfactual(_K.PREEMPTION_ON, fate.has_room, facts, frozenset(fate.victims))


def _facts(fate: reruns.Fate) -> dict[str, int | str]:
    facts: dict[str, int | str] = {"outcome": fate.outcome.value}
    return facts | {"victims": len(fate.victims)} if fate.victims else facts


def _priority(asked: _Asked) -> Found:
    compared = [s for s in asked.view.sessions if s.id != asked.session.id and _is_compared(s)]
    yield from _rank(asked, (_K.HIGHER_PRIORITY, "priority"), compared, most=asked.about.priority_cap)


def _job_priority(asked: _Asked) -> Found:
    if asked.view.policy.state is not entities.PreemptionState.ON:
        return
    own = [s for s in asked.view.sessions if s.id != asked.session.id and _is_compared(s)]
    own = [s for s in own if s.owner_id == asked.session.owner_id]
    above = max((s.job_priority + 1 for s in own), default=asked.session.job_priority)
    most = min(above, entities.MOST_JOB_PRIORITY)
    yield from _rank(asked, (_K.HIGHER_JOB_PRIORITY, "job_priority"), own, most=most)


def _is_compared(session: entities.Session) -> bool:
    """Say whether a session's rank plays a part: it stands in the line, or it can be stopped at all."""
    return session.state in ordering.WAITING or not (session.is_private or session.is_system)


def _rank(
    asked: _Asked, what: tuple[answers.Kind, str], compared: list[entities.Session], *, most: int
) -> Found:
    kind, name = what
    own: int = getattr(asked.session, name)
    turns = searches.turns_above(own, _both_sides(compared, name), most=most)
    if not turns:
        return
    for value in turns:
        fate = asked.fate(asked.changed(**{name: value}))
        if fate.has_room:
            yield _ranked(asked, what, compared, value=value, fate=fate)
            return
    yield answers.Counterfactual(kind, False, {"own": own, "most": most})


def _ranked(
    asked: _Asked,
    what: tuple[answers.Kind, str],
    compared: list[entities.Session],
    *,
    value: int,
    fate: reruns.Fate,
) -> answers.Counterfactual:
    """Return the least rank: a victim just below it explains it, else whoever else has a rank beside it."""
    kind, name = what
    facts: dict[str, int | str] = {"own": getattr(asked.session, name), "value": value, **_facts(fate)}
    beside = {s.id: getattr(s, name) for s in compared if getattr(s, name) in (value - 1, value)}
    is_explained = any(beside.get(victim_id) == value - 1 for victim_id in fate.victims)
    ranks = frozenset() if is_explained else frozenset(beside)
    return answers.Counterfactual(kind, True, facts, _passed(asked, fate), ranks)


def _passed(asked: _Asked, fate: reruns.Fate) -> frozenset[int]:
    """Return whom a higher rank would stop or may pass in the line: that it helps shows that they are there."""
    line = [session.id for session in ordering.waiting(asked.view)]
    return frozenset({*fate.victims, *line[: line.index(asked.session.id)]})


def _at_cap(asked: _Asked) -> Found:
    own, cap = asked.session.priority, asked.about.priority_cap
    if cap <= own:
        return
    fate = asked.fate(asked.changed(priority=cap))
    if fate.has_room:
        facts: dict[str, int | str] = {"own": own, "value": cap, **_facts(fate)}
        yield answers.Counterfactual(_K.PRIORITY_AT_CAP, True, facts, _passed(asked, fate))


def _both_sides(compared: list[entities.Session], name: str) -> set[int]:
    return {getattr(session, name) + more for session in compared for more in (0, 1)}


# Time


def _first_eligible(asked: _Asked) -> Found:
    protected = decisions.Verdict.MIN_RUNTIME
    helpful = changes.holders_of_what_is_short(asked.view, asked.now.nodes)
    ends = sorted(
        (view.facts["until"], view.session_id)
        for view in asked.now.candidates
        if view.verdict is protected and "until" in view.facts and view.session_id in helpful
        if asked.about.visible is None or view.session_id in asked.about.visible
    )
    for moment, session_id in ends[:MOST_MOMENTS]:
        fate = asked.fate(changes.at(asked.view, moment))
        verdicts = {view.session_id: view.verdict for view in fate.candidates}
        if verdicts.get(session_id) in ELIGIBLE:
            facts = {"at": moment} | _facts(fate)
            shown = frozenset({session_id, *fate.victims})
            yield answers.Counterfactual(_K.FIRST_ELIGIBLE, True, facts, shown)
            return
    if len(ends) > MOST_MOMENTS:
        raise reruns.BudgetEnded


_V = decisions.Verdict
#: Verdicts of a candidate that may be stopped and would free something that is short.
ELIGIBLE = frozenset(
    {
        _V.SELECTED,
        _V.NOT_NEEDED,
        _V.INSUFFICIENT,
        _V.POLICY_CHOSE_NOBODY,
        _V.POLICY_GAVE_NO_ANSWER,
    }
)

Question = Callable[[_Asked], Found]
_of_size: tuple[Question, ...] = (_less, _scaled, _fewer_nodes)
_QUESTIONS: tuple[Question, ...] = (
    *_of_size,
    _switch,
    _priority,
    _at_cap,
    _job_priority,
    _first_eligible,
)
