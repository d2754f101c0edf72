"""
Strings that nobody but their owner, or who operates the group, may ever read: planted wherever a person can write.

Every string of a person begins with the person's mark. Whoever sees their sessions as a summary, or not at all, must
never be given the mark; whoever operates their group must never be given the mark with ``hidden`` behind it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from scheduler import models
from scheduler.services import actors, control, keypairs, saved_views
from tests import decision_factories, model_factories, worlds


@dataclasses.dataclass(frozen=True)
class Planted:
    """One person with everything that is theirs, and the secret of their keypair."""

    mark: str
    person: models.User
    sessions: tuple[models.Session, ...]
    private: models.Session
    decision: models.Decision
    keypair: models.Keypair
    secret: str

    @property
    def hidden(self) -> str:
        """Return what only the owner and administrators may read: environment and output."""
        return f"{self.mark}-hidden"


def plant(world: worlds.World, mark: str) -> Planted:
    """Make a person with sessions in every stage in the world's first group, one of them private."""
    person = model_factories.a_user(f"{mark}-user", role="submitter", group=world.group)
    ended = _ended(world, person, mark)
    running = _session(world, person, mark, "running", state="running", job_priority=30)
    victim = _session(world, person, mark, "victim", state="suspended", job_priority=1)
    waiting = _session(world, person, mark, "waiting", slots={"cuda.device": 8})
    held = _session(world, person, mark, "held")
    private = _session(world, person, mark, "private", is_private=True, state="running")
    decision_factories.a_pend_reason(waiting, "no-matching-node", facts={"labels": f"{mark}-label"})
    decision_factories.a_pend_reason(held)
    control.hold_session(actors.of_user(person), held)
    decision = decision_factories.a_preemption(running, [victim], node=world.node)
    _events(running, victim, private, decision)
    row, secret = keypairs.issue(
        actors.of_user(person), person, keypairs.Wish(name=f"{mark}-keypair", scope="full")
    )
    saved_views.keep(person, name=f"{mark}-view", query=f"name:{mark}")
    sessions = (running, waiting, held, victim, ended)
    return Planted(mark, person, sessions, private, decision, row, secret)


def _session(world: worlds.World, person: models.User, mark: str, name: str, **fields: Any) -> models.Session:
    command = {"script": f"echo {mark}-script"} if name == "held" else {}
    return model_factories.a_session(
        **{
            "owner": person,
            "queue": world.queues["normal"],
            "group": world.group,
            "name": f"{mark}-{name}",
            "argv": [] if command else ["/bin/echo", f"{mark}-argument"],
            "environment": {f"{mark}-hidden-key": f"{mark}-hidden-value"},
            "workdir": f"/srv/{mark}-place",
            "required_labels": {f"{mark}-label": [f"{mark}-accepted"]},
            **command,
            **fields,
        }
    )


def _ended(world: worlds.World, person: models.User, mark: str) -> models.Session:
    """Make one that its owner cancelled with a reason, after it had run and written something."""
    row = _session(world, person, mark, "ended")
    control.cancel_session(actors.of_user(person), row, reason=f"{mark}-reason")
    model_factories.a_run(row, world.node, how_ended="cancelled", ended_at=model_factories.ago(5))
    models.SessionOutput.objects.create(
        session=row, attempt=1, tail=f"{mark}-hidden-line\n", size=40, updated_at=model_factories.ago(5)
    )
    models.Session.objects.filter(pk=row.pk).update(result_reason=f"{mark}-because")
    row.refresh_from_db()
    return row


def _events(
    running: models.Session, victim: models.Session, private: models.Session, decision: models.Decision
) -> None:
    for session in (running, victim, private):
        model_factories.an_event(
            "session.submitted", session=session, actor_id=session.owner_id, actor_name=session.owner.username
        )
    told = {"text": f"{running.owner.username}-reason", "reason": f"{running.owner.username}-reason"}
    model_factories.an_event("session.changed", session=running, changed=["priority"], data=told)
    model_factories.an_event("decision.preempt", session=running, decision=decision, data={"victims": 1})
    model_factories.an_event("session.preempted", session=victim, decision=decision, data=told)
    model_factories.an_event("session.cancel_asked", session=private, data=told)
