"""The matrix of queues as it was sent: which boxes were ticked, and which were when the page was made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from django import http

from scheduler.selectors import queue_rules

Step = tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Boxes:
    """Which boxes are ticked: of queues that can be preempted, and of pairs (taker, giver)."""

    preemptible: frozenset[str]
    takes: frozenset[Step]


@dataclasses.dataclass(frozen=True, slots=True)
class Sent:
    """A form that was sent; without ``versions`` of queues it wants nothing."""

    versions: dict[str, int]  #: of the queues that the page showed, when it showed them
    before: Boxes
    after: Boxes
    reason: str = ""

    def changes(self) -> dict[str, dict[str, Any]]:
        """Return queue -> the fields that the form changes, as the service takes them."""
        return {name: found for name in sorted(self.versions) if (found := self._changes_of(name))}

    def _changes_of(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        is_on = name in self.after.preemptible
        if is_on != (name in self.before.preemptible):
            found["preemptible"] = is_on
        takes = givers(self.after, name)
        if takes != givers(self.before, name):
            found["preemptible_queues"] = takes
        return found

    def on(self, rules: Iterable[queue_rules.Rule]) -> Boxes:
        """Return the rules in force with what the form changes; two people who tick boxes never contradict."""
        current = boxes(rules)
        return Boxes(
            (current.preemptible - (self.before.preemptible - self.after.preemptible))
            | (self.after.preemptible - self.before.preemptible),
            (current.takes - (self.before.takes - self.after.takes)) | (self.after.takes - self.before.takes),
        )


def givers(found: Boxes, name: str) -> list[str]:
    """Return from whom a queue may preempt by these boxes."""
    return sorted(giver for taker, giver in found.takes if taker == name)


def boxes(rules: Iterable[queue_rules.Rule]) -> Boxes:
    """Return the boxes as the rules in force tick them."""
    rules = list(rules)
    return Boxes(
        frozenset(rule.name for rule in rules if rule.is_preemptible),
        frozenset((rule.name, giver) for rule in rules for giver in rule.takes),
    )


def drafted(rules: Iterable[queue_rules.Rule], ticked: Boxes) -> list[queue_rules.Rule]:
    """Return the rules as they would be with these boxes."""
    return [
        dataclasses.replace(
            rule,
            is_preemptible=rule.name in ticked.preemptible,
            takes=frozenset(givers(ticked, rule.name)),
        )
        for rule in rules
    ]


def read(data: http.QueryDict) -> Sent:
    """Read a form; what makes no sense in it counts as not sent."""
    versions = {name: int(text) for name, text in _pairs(data.get("versions", "")) if text.isdecimal()}
    return Sent(
        versions,
        Boxes(frozenset(data.get("was_preemptible", "").split()), _steps(data.get("was", "").split())),
        Boxes(frozenset(data.getlist("preemptible")), _steps(data.getlist("takes"))),
        data.get("reason", ""),
    )


def written(rules: Iterable[queue_rules.Rule]) -> dict[str, str]:
    """Return the hidden fields that say how the page showed the rules."""
    rules = list(rules)
    shown = boxes(rules)
    return {
        "versions": " ".join(f"{rule.name}:{rule.version}" for rule in rules),
        "was": " ".join(f"{taker}:{giver}" for taker, giver in sorted(shown.takes)),
        "was_preemptible": " ".join(sorted(shown.preemptible)),
    }


def _steps(texts: Iterable[str]) -> frozenset[Step]:
    return frozenset(pair for text in texts for pair in _pairs(text))


def _pairs(text: str) -> list[Step]:
    parts = (part.partition(":") for part in text.split()[:10_000])
    return [(name, value) for name, sign, value in parts if sign and name and value and len(value) < 60]
