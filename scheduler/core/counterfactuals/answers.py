"""
One answer of a re-run, as data.

Every number in ``facts`` was tried: with it the stated result came out, and with one step less it did not,
where there is a step. Source: DESIGN 7.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping


class Kind(enum.StrEnum):
    """What was changed, and what for."""

    #: A victim would not have been stopped in that round:
    SPARED_JOB_PRIORITY = "spared-job-priority"  #: facts: own, value, and most where still higher ones do not
    SPARED_PRIORITY = "spared-priority"  #: the same
    SPARED_LATER_START = "spared-later-start"  #: facts: seconds, min_runtime
    SPARED_OPT_OUT = "spared-opt-out"
    #: A waiting session would start now:
    STARTS_WITH_LESS = "starts-with-less"  #: facts: kind, asked, value, step
    STARTS_SCALED = "starts-scaled"  #: facts: percent, step, asked.KIND, value.KIND
    STARTS_ON_FEWER_NODES = "starts-on-fewer-nodes"  #: facts: asked, value
    #: A waiting session would start, or room would be made for it; facts: outcome, victims and
    PREEMPTION_ON = "preemption-on"
    HIGHER_PRIORITY = "higher-priority"  #: own, value; or own, most where none up to most helps
    PRIORITY_AT_CAP = (
        "priority-at-cap"  #: own, value: the highest that it may have, whatever the least would be
    )
    HIGHER_JOB_PRIORITY = "higher-job-priority"  #: own, value
    FIRST_ELIGIBLE = "first-eligible"  #: at: when the minimum runtime of a candidate is over (microseconds)


class Outcome(enum.StrEnum):
    """What a round does for one waiting session."""

    STARTS = "starts"
    STOPS = "stops"  #: others are stopped for it
    KEPT = "kept"  #: room that is becoming free is kept for it
    WAITS = "waits"


@dataclasses.dataclass(frozen=True, slots=True)
class Counterfactual:
    """One changed value and what came of it."""

    kind: Kind
    helps: bool  #: False: it was tried, and the result did not come out
    facts: Mapping[str, int | str] = dataclasses.field(default_factory=dict)
    #: Other sessions whose part in it this answer shows: who may not see all of them may not see it.
    rests_on: frozenset[int] = frozenset()
    #: Other sessions whose ranks the very value gives away: it is for those alone who may see such ranks.
    ranks_of: frozenset[int] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class Answers:
    """What was found out about one session."""

    found: tuple[Counterfactual, ...] = ()
    is_complete: bool = True  #: False: the budget ended before every question was asked
    is_same: bool = True  #: False: unchanged, the round comes out otherwise than was recorded
