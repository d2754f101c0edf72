"""
The API against its own description: what Schemathesis makes of each operation, sent with two people's keypairs.

Path parameters are those of both, the other's private session among them, so that every operation is asked for what is
foreign. No 5xx, no answer that the schema does not describe, and nothing of the other's (P06, P19).
"""

from __future__ import annotations

import base64
import dataclasses
import os
import uuid
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core import signals, wsgi
from django.db import close_old_connections, transaction
from hypothesis import strategies
from schemathesis import checks as shipped
from schemathesis.specs.openapi import checks

from tests import canaries, worlds
from xceweb.stack import privileges

EXAMPLES = 200 if os.environ.get("XCE_NIGHT") else 5
SEED = int(os.environ.get("XCE_SEED", "1"))
SCHEMA = schemathesis.openapi.from_path(str(privileges.PROJECT / "docs" / "openapi.yaml"))
OPERATIONS = {one.ok().label: one.ok() for one in SCHEMA.get_all_operations()}
CHECKS = [
    shipped.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


@dataclasses.dataclass(frozen=True)
class Stage:
    """Two people in one group, and every id and name that an address may have."""

    people: tuple[canaries.Planted, canaries.Planted]
    sessions: list[str]
    decisions: list[str]
    names: dict[str, list[str]]

    def values(self, path: str, name: str) -> list[str] | None:
        """Return what may stand for a parameter of a path; None = whatever Schemathesis makes of it."""
        if name == "public_id":
            return self.decisions if "/decisions/" in path else self.sessions
        return self.names.get(f"{path.split('/')[3]} {name}") or self.names.get(name)


@pytest.fixture(autouse=True)
def _one_transaction() -> Iterator[None]:
    """Keep the connection over requests, as Django's own test client does."""
    ends = (signals.request_started, signals.request_finished)
    for signal in ends:
        signal.disconnect(close_old_connections)
    yield
    for signal in ends:
        signal.connect(close_old_connections)


@pytest.fixture
def stage(world: worlds.World, settings: Any) -> Stage:
    """The small cluster with two more people, asked as often as one likes."""
    settings.API_REQUESTS_PER_MINUTE = 0
    settings.ALLOWED_HOSTS = ["localhost"]
    people = (canaries.plant(world, "quokka"), canaries.plant(world, "wombat"))
    mine = [session for one in people for session in (*one.sessions, one.private)]
    names = {
        "resource-groups slug": ["gpu", "elsewhere"],
        "queues slug": ["normal", "urgent", "other"],
        "nodes name": ["gpu-1", "nowhere"],
        "sessions action": ["hold", "release", "cancel", "suspend", "resume", "requeue", "explode"],
        "nodes action": ["drain", "make-ready", "declare-lost"],
        "resource-groups action": ["stop-starting", "start-again", "withdraw-all"],
        "access_key": [one.keypair.access_key for one in people],
        "group": ["gpu", "elsewhere"],
        "queue": ["normal", "other"],
        "q": [f"{one.mark}-name" for one in people] + ["state:pending age>1s", f"id {mine[0].public_id}"],
        "user": ["me", *(one.person.username for one in people)],
    }
    return Stage(
        people,
        [str(one.public_id) for one in [*mine, world.running]] + [str(uuid.UUID(int=1))],
        [str(one.decision.public_id) for one in people] + [str(world.decision.public_id)],
        names,
    )


@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_p06_an_operation_keeps_to_the_schema_and_tells_nothing_foreign(stage, label, record_property):
    operation, asked = OPERATIONS[label], [0]

    @hypothesis.seed(SEED)
    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(), data=strategies.data())
    def tried(case: Any, data: Any) -> None:
        _put_real_values(stage, case, data)
        for reader, other in (stage.people, stage.people[::-1]):
            asked[0] += 1
            _hold(case, _ask(case, reader), other)

    tried()

    record_property("tries", asked[0])
    assert asked[0] >= 2


def _put_real_values(stage: Stage, case: Any, data: Any) -> None:
    """Put ids and names that exist where something may be found by them; three times in four in queries and bodies."""
    for name in case.path_parameters or {}:
        if (values := stage.values(case.path, name)) is not None:
            case.path_parameters[name] = data.draw(strategies.sampled_from(values))
    for given in (case.query, case.body):
        if not isinstance(given, dict):
            continue
        for name in sorted(set(given) & set(stage.names)):
            if data.draw(strategies.integers(0, 3)):
                given[name] = data.draw(strategies.sampled_from(stage.names[name]))


def _ask(case: Any, reader: canaries.Planted) -> Any:
    """Send a case as one of the two; what it changes is undone for the next."""
    pair = base64.b64encode(f"{reader.keypair.access_key}:{reader.secret}".encode()).decode()
    with transaction.atomic():
        answer = case.call(app=wsgi.get_wsgi_application(), headers={"Authorization": f"Basic {pair}"})
        transaction.set_rollback(True)
    return answer


def _hold(case: Any, answer: Any, other: canaries.Planted) -> None:
    """Hold an answer against the schema and against what is the other's."""
    case.validate_response(answer, checks=CHECKS)
    sent = f"{case.formatted_path} {case.query} {case.body}"
    for canary in (other.mark, str(other.private.public_id)):
        assert canary not in answer.text or canary in sent, f"{case.formatted_path} tells {canary}"
