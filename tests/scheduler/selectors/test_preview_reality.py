"""What the preview shows is what happens: preview, switch on, one round with nothing changed, the same victims."""

from __future__ import annotations

import os
import random

import pytest

from scheduler import models
from scheduler.core import entities
from scheduler.selectors import preview
from scheduler.services import actors, policies, rounds
from tests import model_factories

CLUSTERS = 500 if os.environ.get("XCE_NIGHT") else 16
SEED = int(os.environ.get("XCE_SEED", "1"))
KINDS = {"cpu": 4000, "cuda.device": 4}


@pytest.fixture
def people(db):
    """An administrator, and three owners of sessions."""
    return model_factories.an_administrator(), [model_factories.a_user() for _ in range(3)]


def _cluster(choice, owners):
    """Make a group with preemption off whose nodes are nearly full and for which somebody waits."""
    group = model_factories.a_group()
    queues = [model_factories.a_queue(groups=[group], preemptible=choice.random() < 0.7) for _ in range(3)]
    for queue in queues:
        queue.preemptible_queues.set(choice.sample([q for q in queues if q != queue], choice.randint(0, 2)))
        queue.preemption_mode = choice.choice(["", "suspend", "reschedule", "terminate"])
        queue.save()

    def one(**more):
        ranks = {"priority": choice.choice([5, 10, 50, 90]), "job_priority": choice.randint(1, 9)}
        fields = {"owner": choice.choice(owners), "queue": choice.choice(queues), "group": group}
        return model_factories.a_session(**ranks, **fields, **more)

    for _ in range(choice.randint(1, 3)):
        node = model_factories.a_node(group=group, capacity=KINDS)
        left = dict(KINDS)
        while left["cpu"]:
            slots = {kind: choice.randint(1, 2) * size // 4 for kind, size in KINDS.items()}
            slots = {kind: min(amount, left[kind]) for kind, amount in slots.items()}
            left = {kind: left[kind] - slots[kind] for kind in left}
            if choice.random() < 0.9:
                opted = {"is_preemptible": choice.random() < 0.9, "is_private": choice.random() < 0.1}
                session = one(
                    state="running", node=node, slots={k: n for k, n in slots.items() if n}, **opted
                )
                started = model_factories.ago(choice.choice([60, 6000, 90_000]))
                models.Session.objects.filter(pk=session.pk).update(started_at=started)
    for _ in range(choice.randint(1, 5)):
        one(slots={kind: choice.randint(1, 3) * size // 4 for kind, size in KINDS.items()})
    return group


def _rules(choice):
    def any_of(enum_class):
        return choice.choice([member.value for member in enum_class])

    return {
        "preemption_mode": any_of(entities.PreemptionMode),
        "preemption_order": any_of(entities.PreemptionOrder),
        "preemption_scope": any_of(entities.PreemptionScope),
        "preemption_min_runtime": choice.choice([0, 0, 600]),
        "suspend_releases": choice.choice([None, ["cpu"], ["cuda.device", "cpu"]]),
        "placement": any_of(entities.Placement),
    }


def test_the_preview_names_exactly_whom_the_next_round_stops(people, record_property):
    admin, owners = people
    choice, stopped = random.Random(SEED), 0

    for turn in range(CLUSTERS):
        group, rules = _cluster(choice, owners), _rules(choice)
        seen = preview.preview_policy(admin, group, rules)
        policies.change_policy(
            actors.of_user(admin),
            group,
            changes={**rules, "preemption_state": "on"},
            reason="as previewed",
            expected_version=1,
        )
        rounds.run_group_round(group.pk)

        real = models.Victim.objects.filter(decision__group=group).order_by("decision_id", "position")
        told = [(one.session.pk, one.preemptor.pk, one.mode, one.action) for one in seen.victims]
        assert [(v.session_id, v.decision.session_id, v.mode, v.action) for v in real] == told, (SEED, turn)
        stopped += len(told)

    record_property("tries", CLUSTERS)
    assert stopped >= CLUSTERS // 4
