"""
Neutral names for all that an installation has named: nodes, queues, owners, sessions, labels, kinds, policies.

They keep the order of what they stand for, since the last rules of every choice compare names and ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from scheduler.core import snapshot, states, units
from scheduler.core.preemption import shipped

S = states.SessionState


class Names:
    """Neutral names for the ids of one snapshot."""

    def __init__(self, view: snapshot.Snapshot) -> None:
        by_name = sorted(view.nodes, key=lambda node: node.name)
        self.nodes = _numbered("n", [node.id for node in by_name])
        self.queues = _numbered("q", sorted(queue.id for queue in view.queues))
        self.owners = _numbered("u", sorted(owner.id for owner in view.owners))
        ordered = sorted(view.sessions, key=lambda one: (one.state is S.PENDING, one.id))
        self.sessions = _numbered("s", [one.id for one in ordered])
        self._words: dict[str, str] = {}
        self._kinds = _numbered("kind", sorted(_kinds(view) - set(units.BUILT_IN)))
        self._policies = _numbered("policy", sorted(foreign_policies(view)))

    def kind(self, name: str) -> str:
        """Return the neutral name of a kind of slots that is not built in."""
        return self._kinds.get(name, name)

    def policy(self, name: str) -> str:
        """Return the neutral name of a preemption policy that is not shipped."""
        return self._policies.get(name, name)

    def word(self, text: str) -> str:
        """Return the neutral word for a label or a value of one."""
        return self._words.setdefault(text, f"word{len(self._words) + 1}")


_Name = TypeVar("_Name", int, str)


def _numbered(word: str, names: list[_Name]) -> dict[_Name, str]:
    """Return id -> name; of equal length, so that names compare as their numbers."""
    width = len(str(len(names)))
    return {each: f"{word}{place:0{width}d}" for place, each in enumerate(names, 1)}


def _kinds(view: snapshot.Snapshot) -> set[str]:
    found = set(view.policy.suspend_releases or ())
    for node in view.nodes:
        found |= {*node.capacity.kinds(), *node.devices}
    for one in view.sessions:
        found |= {*one.request.kinds(), *(one.stop_releases or ())}
    for usage in (each.usage for each in (*view.owners, *view.queues)):
        found |= {*usage.max_slots, *usage.used.kinds()}
    return found


def foreign_policies(view: snapshot.Snapshot) -> set[str]:
    """Return the preemption policies that queues name and that are not shipped."""
    return {queue.preempt_policy for queue in view.queues if queue.preempt_policy} - set(shipped.FOR_QUEUES)


def names_of(names: Names, ids: Iterable[int]) -> list[str]:
    """Return the neutral names of sessions, sorted."""
    return sorted(names.sessions[each] for each in ids)


def said(found: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """Return a table without what is left out in a file: nothing, and what the format takes for granted."""
    return {
        key: value
        for key, value in found.items()
        if not (_is_nothing(value) if key not in defaults else value is None or value == defaults[key])
    }


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or value == "" or value == {} or value == []
