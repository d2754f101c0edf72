"""
Write a stored decision, or why a session waits, as a scenario file, so that a person can hand it in.

Who stands behind in the line is left out, unless the decision depends on them; the file names no policy that is not
shipped. The case is run before it is written: what does not give the same victims again is never passed off as if it
did.
"""

from __future__ import annotations

import dataclasses
import decimal
import functools
import itertools
import uuid
from collections.abc import Callable
from typing import Any

import yaml

from scheduler import models
from scheduler.core import decisions, entities, ordering, plain, snapshot, states
from scheduler.scenarios import answers, located, neutral, neutral_names, playing, reading
from scheduler.selectors import stored_rounds

Kind = models.Decision.Kind
R = decisions.PendReason
CASE_ID = "handed-in"


class CannotWrite(Exception):
    """The decision cannot be written as a case; the text says why."""


@dataclasses.dataclass(frozen=True)
class Written:
    """The text of a file, and whether it gives the stored decision again."""

    text: str
    result: answers.Result


def write(public_id: str) -> Written:
    """
    Return the file of a stored decision; of a session's id, that of the round since which its headline reason stands.

    Raises:
        CannotWrite: there is no such decision and no such waiting session, or the snapshot of the round is not kept.
    """
    stored = _find(public_id)
    try:
        view = plain.to_snapshot(stored_rounds.plain_of(stored.round))
    except ValueError:
        raise CannotWrite("the snapshot of its round is not kept any more, so it cannot be written") from None
    except plain.NotPlain as error:
        raise CannotWrite(str(error)) from None
    scales = dict(models.SlotKind.objects.values_list("name", "scale"))
    is_shadow = view.policy.state is entities.PreemptionState.SHADOW
    ways = itertools.product(
        (until(view, stored.session_id), view),
        (False, True) if neutral_names.foreign_policies(view) else (False,),
        (False, True) if is_shadow else (False,),
    )
    for shown, shipped_alone, tells_shadow in ways:
        writer = neutral.Writer(shown, scales, shipped_alone=shipped_alone, tells_shadow=tells_shadow)
        made = _written(stored, writer)
        if made.result.verdict is answers.Verdict.PASSED:
            break
    return made


def until(view: snapshot.Snapshot, session_id: int) -> snapshot.Snapshot:
    """Return the snapshot without the pending sessions that stand after one in the line: it never sees them."""
    line = [session.id for session in ordering.waiting(view)]
    after = set(line[line.index(session_id) + 1 :])
    gone = {one.id for one in view.sessions if one.id in after and one.state is states.SessionState.PENDING}
    gone -= {kept.session_id for kept in view.reservations}
    sessions = tuple(one for one in view.sessions if one.id not in gone)
    edges = tuple(edge for edge in view.edges if not {edge.winner_id, edge.loser_id} & gone)
    claims = tuple(claim for claim in view.claims if claim.session_id not in gone)
    return dataclasses.replace(view, sessions=sessions, edges=edges, claims=claims)


def _written(stored: _Stored, writer: neutral.Writer) -> Written:
    name = writer.names.sessions[stored.session_id]
    case = writer.case(CASE_ID) | {"expect": {"per_pending": {name: stored.answer(writer.names)}}}
    text = dump(case)
    (again,) = reading.cases(located.parse(text))
    return Written(text, playing.run(again, _no_story))


def dump(case: dict[str, Any]) -> str:
    """Return the text of a file with one case."""
    return _HEAD + yaml.dump([case], Dumper=_Dumper, sort_keys=False, width=118, allow_unicode=True)


_HEAD = "# One decision, as it was stored; names, labels and commands are replaced. bin/manage scenario FILE runs it.\n"


@dataclasses.dataclass(frozen=True)
class _Stored:
    """What is to be written: a round, one who waited in it, and what became of them in neutral names."""

    round: models.Round
    session_id: int
    answer: Callable[[neutral_names.Names], dict[str, Any]]


def _find(public_id: str) -> _Stored:
    try:
        wanted = uuid.UUID(public_id)
    except ValueError:
        raise CannotWrite(
            f"{public_id!r} is no id of a decision: it is the last part of its page's address"
        ) from None
    rows = models.Decision.objects.select_related("round", "round__base")
    decision = rows.filter(public_id=wanted).first()
    if decision is not None:
        return _Stored(decision.round, decision.session_id, functools.partial(_of_decision, decision))
    wait = models.PendReason.objects.select_related("session").filter(session__public_id=wanted).first()
    if wait is None:
        raise CannotWrite(f"there is no decision {public_id}, and no session of that id that waits")
    return _Stored(_round_of(wait), wait.session_id, lambda names: _of_wait(wait))


def _round_of(wait: models.PendReason) -> models.Round:
    """Return the round in which a headline reason came up: a changed one has its round stored."""
    rounds = models.Round.objects.select_related("base").filter(group=wait.session.group_id, at=wait.since)
    found = rounds.order_by("-pk").first()
    if found is None:
        raise CannotWrite("the round since which it waits for this reason is not stored")
    return found


def _of_decision(decision: models.Decision, names: neutral_names.Names) -> dict[str, Any]:
    victims = neutral_names.names_of(names, decision.victims.values_list("session_id", flat=True))
    if decision.kind == Kind.SHADOW:
        victims = neutral_names.names_of(names, [each["session_id"] for each in decision.record["victims"]])
    outcome = answers.Outcome.PREEMPT if victims else answers.Outcome.WAIT
    return {"outcome": str(outcome), "victims": victims, "target": names.nodes[decision.node_id]}


def _of_wait(wait: models.PendReason) -> dict[str, Any]:
    if wait.reason in (R.AWAITING_VICTIMS, R.AWAITING_RELEASE):
        return {"reason": wait.reason}
    return {"outcome": str(answers.Outcome.PEND), "victims": [], "reason": wait.reason}


def _no_story(case: Any) -> answers.Result:
    raise CannotWrite("the case has become a story, which is a fault of the writer")


class _Dumper(yaml.SafeDumper):
    """Flat tables and lists in one line, exact decimals as they are."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal tables twice instead of pointing at the first."""
        return True


def _decimal(dumper: yaml.SafeDumper, value: decimal.Decimal) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:float", f"{value:f}")


def _flow(value: yaml.Node) -> bool:
    inside = value.value if isinstance(value, yaml.SequenceNode) else [pair[1] for pair in value.value]
    return all(isinstance(each, yaml.ScalarNode) for each in inside)


def _table(dumper: yaml.SafeDumper, value: dict[str, Any]) -> yaml.Node:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", value.items())
    node.flow_style = _flow(node) and "id" not in value
    return node


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.Node:
    node = dumper.represent_sequence("tag:yaml.org,2002:seq", value)
    node.flow_style = _flow(node)
    return node


_Dumper.add_representer(decimal.Decimal, _decimal)
_Dumper.add_representer(dict, _table)
_Dumper.add_representer(list, _list)
