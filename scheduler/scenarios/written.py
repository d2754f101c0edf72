"""
Write a stored decision as a scenario file, so that a person can hand it in.

The case is run before it is written: what does not give the same victims again is never passed off as if it did.
"""

from __future__ import annotations

import dataclasses
import decimal
import uuid
from typing import Any

import yaml

from scheduler import models
from scheduler.core import plain
from scheduler.scenarios import answers, located, neutral, playing, reading
from scheduler.selectors import stored_rounds

Kind = models.Decision.Kind
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
    Return the file of a stored decision.

    Raises:
        CannotWrite: there is no such decision, or the snapshot of its round is not kept any more.
    """
    decision = _find(public_id)
    try:
        view = plain.to_snapshot(stored_rounds.plain_of(decision.round))
    except ValueError:
        raise CannotWrite("the snapshot of its round is not kept any more, so it cannot be written") from None
    except plain.NotPlain as error:
        raise CannotWrite(str(error)) from None
    view = neutral.until(view, decision.session_id)
    writer = neutral.Writer(view, dict(models.SlotKind.objects.values_list("name", "scale")))
    case = writer.case(CASE_ID) | {"expect": _expected(decision, writer.names)}
    text = dump(case)
    (again,) = reading.cases(located.parse(text))
    return Written(text, playing.run(again, _no_story))


def dump(case: dict[str, Any]) -> str:
    """Return the text of a file with one case."""
    return _HEAD + yaml.dump([case], Dumper=_Dumper, sort_keys=False, width=118, allow_unicode=True)


_HEAD = "# One decision, as it was stored; names, labels and commands are replaced. bin/manage scenario FILE runs it.\n"


def _find(public_id: str) -> models.Decision:
    try:
        wanted = uuid.UUID(public_id)
    except ValueError:
        raise CannotWrite(
            f"{public_id!r} is no id of a decision: it is the last part of its page's address"
        ) from None
    rows = models.Decision.objects.select_related("round", "round__base")
    found = rows.filter(public_id=wanted).first()
    if found is None:
        raise CannotWrite(f"there is no decision {public_id}")
    return found


def _expected(decision: models.Decision, names: neutral.Names) -> dict[str, Any]:
    victims = neutral.names_of(names, decision.victims.values_list("session_id", flat=True))
    if decision.kind == Kind.SHADOW:
        victims = neutral.names_of(names, [each["session_id"] for each in decision.record["victims"]])
    outcome = answers.Outcome.PREEMPT if victims else answers.Outcome.WAIT
    answer = {"outcome": str(outcome), "victims": victims, "target": names.nodes[decision.node_id]}
    return {"per_pending": {names.sessions[decision.session_id]: answer}}


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
