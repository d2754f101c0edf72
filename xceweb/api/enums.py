"""The closed lists of words in answers, by the names that generated clients give them."""

from __future__ import annotations

import enum

from scheduler import models
from scheduler.core import entities, states


def _values(kind: type[enum.Enum]) -> list[str]:
    return [str(each.value) for each in kind]


SESSION_STATE = _values(states.SessionState)
NODE_STATE = _values(entities.NodeState)
QUEUE_STATE = _values(entities.QueueState)
PREEMPTION_STATE = _values(entities.PreemptionState)
PREEMPTION_SCOPE = _values(entities.PreemptionScope)
PREEMPTION_MODE = _values(entities.PreemptionMode)
PREEMPTION_ORDER = _values(entities.PreemptionOrder)
PLACEMENT = _values(entities.Placement)
SESSION_TYPE = _values(entities.SessionType)
KEYPAIR_SCOPE = [str(value) for value in models.Keypair.Scope.values]
OUTPUT_STATE = ["last-lines", "page", "asked", "gone", "none"]
RERUN_STATE = ["equal", "differs", "cannot"]
DRY_RUN_OUTCOME = ["starts", "stops", "waits", "never"]
SILENT_NODE = ["keep", "fence"]
