"""Django models, one aggregate per file, constraints beside the fields (DESIGN section 2)."""

from scheduler.models import lookups as lookups
from scheduler.models.agents import AgentKey, AgentStatus, Listening
from scheduler.models.announcements import Announcement
from scheduler.models.audit import ConfigChange
from scheduler.models.commands import AgentCommand
from scheduler.models.decisions import (
    Claim,
    Decision,
    GivenUp,
    Handover,
    NodeBackoff,
    Outcome,
    PendReason,
    PreemptionEdge,
    Reservation,
    Round,
    ShadowCount,
    Victim,
    VictimFate,
)
from scheduler.models.events import Event, EventCounter
from scheduler.models.ledgers import OwnerUsage, QueueUsage
from scheduler.models.nodes import Node, NodeDevice, NodeSlot
from scheduler.models.planned_changes import PlannedChange
from scheduler.models.policies import KeypairResourcePolicy, PolicyVersion
from scheduler.models.queues import Queue
from scheduler.models.resource_groups import GroupRole, GroupRounds, ResourceGroup
from scheduler.models.saved_views import SavedView
from scheduler.models.sessions import (
    Allocation,
    OutputPage,
    RankOutput,
    Run,
    Session,
    SessionDependency,
    SessionOutput,
)
from scheduler.models.slots import SlotKind
from scheduler.models.users import IdempotentAnswer, Keypair, User

__all__ = [
    "AgentCommand",
    "AgentKey",
    "AgentStatus",
    "Allocation",
    "Announcement",
    "Claim",
    "ConfigChange",
    "Decision",
    "Event",
    "EventCounter",
    "GivenUp",
    "GroupRole",
    "GroupRounds",
    "Handover",
    "IdempotentAnswer",
    "Keypair",
    "KeypairResourcePolicy",
    "Listening",
    "Node",
    "NodeBackoff",
    "NodeDevice",
    "NodeSlot",
    "Outcome",
    "OutputPage",
    "OwnerUsage",
    "PendReason",
    "PlannedChange",
    "PolicyVersion",
    "PreemptionEdge",
    "Queue",
    "QueueUsage",
    "RankOutput",
    "Reservation",
    "ResourceGroup",
    "Round",
    "Run",
    "SavedView",
    "Session",
    "SessionDependency",
    "SessionOutput",
    "ShadowCount",
    "SlotKind",
    "User",
    "Victim",
    "VictimFate",
]
