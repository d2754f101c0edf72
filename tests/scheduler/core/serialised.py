"""
Decisions of random rounds as text: `python -m tests.scheduler.core.serialised ROUNDS SHUFFLE`, one line a round.

Everything that may come in any order is shuffled where SHUFFLE is not 0: what the snapshot lists, and the keys of
every mapping inside. Meant to be run under several hash seeds.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.core import decisions, entities, resources, snapshot
from tests import crowds, factories, strategies

ORDERS, SCOPES = tuple(entities.PreemptionOrder), tuple(entities.PreemptionScope)
STATES = (entities.PreemptionState.ON, entities.PreemptionState.ON, entities.PreemptionState.SHADOW)


def views(rounds: int) -> Iterator[snapshot.Snapshot]:
    """Return random snapshots: crowds around one session, rounds with a reservation, and by all rules."""
    kept = (strategies.random_snapshot(seed, nodes=2, running=9, pending=9) for seed in itertools.count())
    with_reservation = (view for view in kept if view.reservations)
    for seed in range(rounds):
        if seed % 3 < 2:
            yield next(with_reservation) if seed % 3 else crowds.crowd(seed)
            continue
        rules = {"order": ORDERS[seed % 4], "scope": SCOPES[seed // 3 % 3], "state": STATES[seed // 12 % 3]}
        yield strategies.random_snapshot(seed, nodes=4, running=(5, 14)[seed % 2], pending=9, **rules)


def shuffled(view: snapshot.Snapshot, seed: int) -> snapshot.Snapshot:
    """Return the same snapshot, put together in another order."""
    chance = random.Random(f"shuffle/{seed}")
    names = [field.name for field in dataclasses.fields(view) if isinstance(getattr(view, field.name), tuple)]
    lists = {name: tuple(_mixed(chance, row) for row in getattr(view, name)) for name in names}
    mixed = {name: tuple(chance.sample(rows, len(rows))) for name, rows in lists.items()}
    return dataclasses.replace(view, policy=_mixed(chance, view.policy), **mixed)


def _mixed(chance: random.Random, value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: _mixed(chance, getattr(value, f.name)) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **parts)
    if isinstance(value, resources.ResourceVector):
        return resources.ResourceVector(_mixed(chance, value.as_dict()))
    if isinstance(value, Mapping):
        return {key: _mixed(chance, value[key]) for key in chance.sample(list(value), len(value))}
    if isinstance(value, frozenset):
        return frozenset(chance.sample(list(value), len(value)))
    return tuple(_mixed(chance, each) for each in value) if isinstance(value, tuple) else value


def line(view: snapshot.Snapshot) -> str:
    """Return all decisions of one round, in their order."""
    return json.dumps([_plain(decision) for decision in factories.decide(view)], separators=(",", ":"))


def _plain(decision: decisions.Decision) -> dict[str, Any]:
    plain: dict[str, Any] = {"op": decision.op.name, **snapshot.to_plain(decision)}
    return plain


def main(rounds: int, shuffle: int) -> None:
    """Print the rounds."""
    for seed, view in enumerate(views(rounds)):
        print(line(shuffled(view, shuffle + seed) if shuffle else view))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
